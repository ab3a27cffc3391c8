/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_HOLE 3
#define SEEK_DATA 4
#define _SC_ARG_MAX 1
#define _SC_OPEN_MAX 5
#define _SC_CLK_TCK 3
#define _SC_PAGESIZE 29
#define _SC_NPROCESSORS_ONLN 58
#define _SC_NPROCESSORS_CONF 57
#define _CS_DARWIN_USER_TEMP_DIR 65537
int access(const char *, int);
int faccessat(int, const char *, int, int);
unsigned alarm(unsigned);
int chdir(const char *);
int fchdir(int);
int chown(const char *, uid_t, gid_t);
int fchown(int, uid_t, gid_t);
int lchown(const char *, uid_t, gid_t);
int fchownat(int, const char *, uid_t, gid_t, int);
int close(int);
size_t confstr(int, char *, size_t);
int dup(int);
int dup2(int, int);
int execv(const char *, char *const[]);
int execve(const char *, char *const[], char *const[]);
int execvp(const char *, char *const[]);
int execl(const char *, const char *, ...);
int execlp(const char *, const char *, ...);
void _exit(int) __attribute__((noreturn));
pid_t fork(void);
int fsync(int);
int fdatasync(int);
int ftruncate(int, off_t);
int truncate(const char *, off_t);
char *getcwd(char *, size_t);
gid_t getegid(void);
uid_t geteuid(void);
gid_t getgid(void);
uid_t getuid(void);
int getgroups(int, gid_t[]);
int setgroups(int, const gid_t *);
int initgroups(const char *, int);
int gethostname(char *, size_t);
char *getlogin(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t);
pid_t getpid(void);
pid_t getppid(void);
pid_t getsid(pid_t);
int getpeereid(int, uid_t *, gid_t *);
int getopt(int, char *const[], const char *);
extern char *optarg;
extern int optind, opterr, optopt;
int isatty(int);
int link(const char *, const char *);
int linkat(int, const char *, int, const char *, int);
off_t lseek(int, off_t, int);
int nice(int);
int pause(void);
int pipe(int[2]);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
ssize_t read(int, void *, size_t);
ssize_t readlink(const char *, char *, size_t);
ssize_t readlinkat(int, const char *, char *, size_t);
int rmdir(const char *);
int setegid(gid_t);
int seteuid(uid_t);
int setgid(gid_t);
int setuid(uid_t);
int setpgid(pid_t, pid_t);
pid_t setsid(void);
unsigned sleep(unsigned);
int usleep(useconds_t);
int symlink(const char *, const char *);
int symlinkat(const char *, int, const char *);
void sync(void);
long sysconf(int);
pid_t tcgetpgrp(int);
int tcsetpgrp(int, pid_t);
char *ttyname(int);
int ttyname_r(int, char *, size_t);
int unlink(const char *);
int unlinkat(int, const char *, int);
ssize_t write(int, const void *, size_t);
int getentropy(void *, size_t);
