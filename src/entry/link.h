/* SPDX-License-Identifier: MIT */
/*
 * How a supervisor outside of a virtual machine and wrapix-entry inside speak, over a stream socket that the
 * engine relays: messages of two bytes, in both directions. The entrypoint connects (WRAPIX_LINK); its end
 * of the connection is the supervisor's life, without which it ends everything inside.
 */
#pragma once

enum link_type {
	LINK_HELLO = 'H',     /* entry: the environment is read */
	LINK_GO = 'G',        /* supervisor: its file is gone */
	LINK_RUNNING = 'R',   /* entry: the command was started */
	LINK_STOPPED = 'T',   /* entry: it was stopped by signal value */
	LINK_CONTINUED = 'C', /* entry: it goes on */
	LINK_EXITED = 'X',    /* entry: it ended with exit status value */
	LINK_SIGNAL = 'S',    /* supervisor: deliver signal value */
};

struct link_message {
	unsigned char type, value;
};
