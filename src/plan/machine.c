/* SPDX-License-Identifier: MIT */
/*
 * --runtime krun: podman's container as a virtual machine. crun's other name, krun, gives the root that
 * podman made to a small kernel of its own (libkrun, KVM), and its program opens the machine's
 * connections in the container's network namespace. So mounts, user and network stand as they do for a
 * container; what needs one kernel on both sides cannot be, and is refused or said.
 */
#include <errno.h>

#include "plan/parts.h"

static int check_runtime(const struct host *host, struct err *err)
{
	const struct podman_facts *podman = &host->podman;

	if (!podman->krun) {
		err_set(err, ENOENT,
			"--runtime krun needs the program 'krun', crun with libkrun, "
			"which is not installed");
		return err_hint(err, "install it (Fedora's package 'crun-krun'), or leave "
				     "--runtime away: the container then shares this kernel");
	}
	if (!podman->kvm_there) {
		err_set(err, ENODEV, "--runtime krun needs KVM, and there is no /dev/kvm");
		return err_hint(err, "sudo modprobe kvm_intel or kvm_amd, or allow nested "
				     "virtualisation where this machine is a virtual one itself");
	}
	if (!podman->kvm) {
		err_set(err, EACCES, "--runtime krun needs KVM, and /dev/kvm cannot be opened");
		return err_hint(err, "sudo usermod --append --groups kvm %s, and log in again",
				host->user);
	}
	return 0;
}

static int check_wishes(const struct spec *spec, const struct host *host, struct err *err)
{
	if (host->keys.name && spec->deploy_key_mode != KEY_MODE_FILE) {
		err_set(err, ENOTSUP,
			"no socket leads out of a virtual machine, so that nobody "
			"can be asked for signatures of the deploy key '%s'",
			host->keys.name);
		return err_hint(err, "--deploy-key-mode file lets the keys in; or leave --runtime "
				     "away");
	}
	return 0;
}

static void note_differences(struct plan *plan, const struct spec *spec)
{
	static const char *const lines[] = {
		"the kernel is the machine's own: Landlock and the exact filter hold in it as far "
		"as it has them",
		"no socket of this machine's leads in: messages to you do not come out",
		"a signal is a file that is looked for 20 times a second; a command that is "
		"stopped stops in there alone",
		"the environment's file is there until the end, readable by the command, which "
		"has the same in its memory",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		strv_add(&plan->arena, &plan->podman.differs, lines[i]);
	if (spec->workspace == WORKSPACE_COW)
		strv_add(&plan->arena, &plan->podman.differs,
			 "a directory of the project cannot be renamed as one (EXDEV): programs "
			 "copy it");
	if (plan->net == NET_FILTERED)
		strv_add(&plan->arena, &plan->podman.differs,
			 "network: filtered from before the command starts, and which program "
			 "asked is not known");
}

int plan_machine_can(const struct spec *spec, const struct host *host, struct err *err)
{
	int r = spec->runtime == RUNTIME_KRUN ? check_runtime(host, err) : 0;

	return r == 0 && spec->runtime == RUNTIME_KRUN ? check_wishes(spec, host, err) : r;
}

void plan_machine(struct plan *plan, const struct spec *spec, const struct host *host)
{
	if (spec->runtime != RUNTIME_KRUN)
		return;
	plan->podman.runtime = arena_strdup(&plan->arena, host->podman.krun);
	plan->podman.keep_groups = host->podman.kvm_by_group;
	note_differences(plan, spec);
}

int plan_machine_check(const struct plan *plan, struct err *err)
{
	if (!plan_is_machine(plan) || !plan_has_listener(plan))
		return 0;
	err_set(err, ENOTSUP,
		"rules for files and sockets are kept by asking the supervisor about "
		"system calls, and those of a virtual machine cannot be seen");
	return err_hint(err, "leave --runtime away");
}

/* podman's bounds are around the machine: what is in it is not counted one by one. */
void plan_machine_limits(struct plan *plan)
{
	if (!plan_is_machine(plan))
		return;
	plan->podman.held &= ~LIMIT_BIT(LIMIT_PIDS);
	strv_add(&plan->arena,
		 plan->limits.asked & LIMIT_BIT(LIMIT_PIDS) ? &plan->weaker : &plan->podman.differs,
		 "limits: processes in a virtual machine are not counted; its memory (2 GiB, or "
		 "--memory where podman can hold it) bounds them");
}
