/* SPDX-License-Identifier: MIT */
/*
 * What the kernel of Linux alone has for files: its kinds of file systems, attributes, watches. A file that includes
 * this is in no other build.
 */
#pragma once

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/statfs.h>
#include <sys/vfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <sys/inotify.h>
