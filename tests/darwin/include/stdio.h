/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>
typedef struct __sFILE FILE;
extern FILE *__stdinp, *__stdoutp, *__stderrp;
#define stdin __stdinp
#define stdout __stdoutp
#define stderr __stderrp
#define EOF (-1)
#define BUFSIZ 1024
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_HOLE 3
#define SEEK_DATA 4
#define _IOFBF 0
#define _IOLBF 1
#define _IONBF 2
#define RENAME_SWAP 0x2
#define RENAME_EXCL 0x4
int sprintf(char *, const char *, ...) __attribute__((format(printf, 2, 3)));
int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
int fprintf(FILE *, const char *, ...) __attribute__((format(printf, 2, 3)));
int dprintf(int, const char *, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *, size_t, const char *, ...) __attribute__((format(printf, 3, 4)));
int asprintf(char **, const char *, ...) __attribute__((format(printf, 2, 3)));
int vprintf(const char *, va_list) __attribute__((format(printf, 1, 0)));
int vfprintf(FILE *, const char *, va_list) __attribute__((format(printf, 2, 0)));
int vsnprintf(char *, size_t, const char *, va_list) __attribute__((format(printf, 3, 0)));
int vasprintf(char **, const char *, va_list) __attribute__((format(printf, 2, 0)));
int sscanf(const char *, const char *, ...) __attribute__((format(scanf, 2, 3)));
int fscanf(FILE *, const char *, ...) __attribute__((format(scanf, 2, 3)));
int puts(const char *);
int fputs(const char *, FILE *);
int fputc(int, FILE *);
int putc(int, FILE *);
int putchar(int);
int getchar(void);
int fgetc(FILE *);
int getc(FILE *);
char *fgets(char *, int, FILE *);
size_t fread(void *, size_t, size_t, FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
FILE *fopen(const char *, const char *);
FILE *fdopen(int, const char *);
FILE *open_memstream(char **, size_t *);
FILE *fmemopen(void *, size_t, const char *);
FILE *tmpfile(void);
int fclose(FILE *);
int fflush(FILE *);
int ferror(FILE *);
int feof(FILE *);
void clearerr(FILE *);
int fileno(FILE *);
int fseek(FILE *, long, int);
int fseeko(FILE *, off_t, int);
off_t ftello(FILE *);
void rewind(FILE *);
int setvbuf(FILE *, char *, int, size_t);
ssize_t getline(char **, size_t *, FILE *);
ssize_t getdelim(char **, size_t *, int, FILE *);
void perror(const char *);
int remove(const char *);
int rename(const char *, const char *);
int renameat(int, const char *, int, const char *);
int renamex_np(const char *, const char *, unsigned int);
int renameatx_np(int, const char *, int, const char *, unsigned int);
