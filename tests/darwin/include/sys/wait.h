/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <signal.h>
#define WNOHANG 1
#define WUNTRACED 2
#define WCONTINUED 0x10
#define WEXITED 4
#define WNOWAIT 0x20
#define _WSTATUS(x) ((x)&0177)
#define WIFEXITED(x) (_WSTATUS(x) == 0)
#define WEXITSTATUS(x) (((x) >> 8) & 0xff)
#define WIFSIGNALED(x) (_WSTATUS(x) != 0177 && _WSTATUS(x) != 0)
#define WTERMSIG(x) (_WSTATUS(x))
#define WIFSTOPPED(x) (_WSTATUS(x) == 0177 && ((x) >> 8) != 0x13)
#define WSTOPSIG(x) ((x) >> 8)
#define WIFCONTINUED(x) (_WSTATUS(x) == 0177 && ((x) >> 8) == 0x13)
#define WCOREDUMP(x) ((x)&0200)
#define W_EXITCODE(ret, sig) ((ret) << 8 | (sig))
typedef enum { P_ALL, P_PID, P_PGID } idtype_t;
pid_t wait(int *);
pid_t waitpid(pid_t, int *, int);
int waitid(idtype_t, id_t, siginfo_t *, int);
struct rusage;
pid_t wait4(pid_t, int *, int, struct rusage *);
