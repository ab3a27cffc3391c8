/* SPDX-License-Identifier: MIT */
/*
 * What the kernel of Linux alone has for processes: namespaces, its own calls. A file that includes this is in no other
 * build.
 */
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <linux/nsfs.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
