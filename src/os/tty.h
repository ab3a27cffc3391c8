/* SPDX-License-Identifier: MIT */
/* The user's terminal: raw while a sandbox has one of its own, restored on every way out. */
#pragma once

#include <termios.h>

#include "base/err.h"

struct tty {
	int fd; /* a descriptor of our own: non-blocking without touching what we share with the shell */
	struct termios saved;
	bool raw;
};

/* std_fd is one of 0, 1, 2 that is a terminal. */
int tty_open(struct tty *tty, int std_fd, struct err *err);
void tty_raw(struct tty *tty);
void tty_restore(struct tty *tty);
void tty_close(struct tty *tty);

/* A new pair; path is the slave's. The master is O_CLOEXEC as the slave is. 0 or -errno. */
int tty_pair(int *ret_master, int *ret_slave, char *path, size_t size);

/* A slave of our own for the master, opened anew; -1 with errno. */
int tty_peer(int master);

/* Gives the terminal fd the settings and the window size of std_fd; without processing of output
 * where the user's terminal goes on doing that. */
void tty_copy_settings(int std_fd, int fd, bool process_output);
void tty_copy_size(const struct tty *tty, int master_fd);

/* A size is one number, for whoever sets it elsewhere; 0: none. The same once more is no SIGWINCH. */
#define TTY_SIZE(rows, columns) ((int)(((rows)&0x7fffu) << 16 | ((columns)&0xffffu)))
int tty_size(int fd);
void tty_set_size(int fd, int size);
