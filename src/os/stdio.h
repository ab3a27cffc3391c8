/* SPDX-License-Identifier: MIT */
/*
 * Standard input, output and error, which a command has from us. O_NONBLOCK is the file's and not the descriptor's: what the
 * command says there holds for us as well, and for whoever gave them to us. Those that are a terminal are others' too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct os_stdio {
	bool waits[3];
};

void os_stdio_note(struct os_stdio *ret);
/* What waited for its reader or writer then does so again. */
void os_stdio_restore(const struct os_stdio *noted);

/* As os_write_all(), and waits for who reads, but not for one who does not read at all. */
int os_stdio_write(int fd, const char *text, size_t len);
