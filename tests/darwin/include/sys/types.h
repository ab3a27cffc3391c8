/* SPDX-License-Identifier: MIT */
/* Of macOS, what the tree uses: declarations only, for the check that it compiles there. */
#pragma once

typedef signed char __int8_x;
typedef int dev_t;
typedef unsigned long long ino_t;
typedef unsigned short mode_t;
typedef unsigned short nlink_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef long long off_t;
typedef int pid_t;
typedef long ssize_t;
typedef long time_t;
typedef unsigned long clock_t;
typedef int suseconds_t;
typedef unsigned int useconds_t;
typedef int blksize_t;
typedef long long blkcnt_t;
typedef unsigned int fixpt_t;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned char u_int8_t;
typedef unsigned short u_int16_t;
typedef unsigned int u_int32_t;
typedef unsigned long long u_int64_t;
typedef unsigned int fsblkcnt_t;
typedef unsigned int fsfilcnt_t;
#include <stddef.h>
#include <stdint.h>
#define major(x) ((int)(((unsigned int)(x) >> 24) & 0xff))
#define minor(x) ((int)((x)&0xffffff))
#define makedev(major, minor) ((dev_t)(((major) << 24) | (minor)))
