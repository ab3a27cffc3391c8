/* SPDX-License-Identifier: MIT */
/*
 * What an agent may do to work items, through a socket in its sandbox: list, show, add proposals, leave
 * notes. Whether a task is done is not for it to say. Its words are hostile: capped, checked, and stored
 * as data.
 */
#pragma once

#include "base/str.h"
#include "os/listener.h"
#include "ralph/config.h"
#include "ralph/items.h"

enum { DOOR_CONNS = 8 };

struct door;

struct door_conn {
	struct door *door;
	struct loop_source source; /* fd -1: free */
	struct str question;
};

struct door {
	struct loop *loop;
	struct db *db;
	const char *feature, *item; /* item NULL: the session works on none */
	struct listener listener;
	struct door_conn conns[DOOR_CONNS];
	unsigned added, noted;
};

/* Listens at DIR/door. */
int door_open(struct door *door, struct loop *loop, const char *dir, struct err *err);
void door_close(struct door *door);

/* The answer to a question: text for the agent, and the status its client ends with. */
int door_answer(struct door *door, const char *question, size_t len, struct str *ret);
