/* SPDX-License-Identifier: MIT */
/* What 'wrapix doctor' says of podman and of what podman needs. */
#include "cli/doctor.h"
#include "spec/host.h"

void check_subids(const struct patient *p, struct finding *f)
{
	static const char *const files[] = { "/etc/subuid", "/etc/subgid" };
	struct arena a = { 0 };

	if (p->host->uid == 0) {
		str_add(&f->text, "not for root, whom the podman engine refuses");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (host_has_subids(p->host, files[i]))
			continue;
		f->verdict = MISSING;
		str_addf(&f->text, "%snone for %s in %s", f->text.len ? "; " : "", p->host->user,
			 files[i]);
	}
	if (f->verdict == WORKS) {
		str_add(&f->text, "a range of ids is set aside");
		return;
	}
	str_add(&f->text, " (podman needs them; the native engine does not)");
	str_add(&f->fix, host_ids_advice(&a, p->host->user));
	arena_release(&a);
}

void check_podman(const struct patient *p, struct finding *f)
{
	struct host host = *p->host;
	struct spec spec;
	struct plan plan;
	struct err err;
	char *command[] = { (char *)"true", NULL };

	host.image_root = (char *)"/";
	spec_init(&spec);
	spec.engine = ENGINE_PODMAN;
	spec.net = NET_NONE;
	spec.cmd = command;
	spec.force = spec.only = true;
	if (plan_make(&spec, &host, &plan, &err) < 0) {
		found_error(f, MISSING, &err);
	} else {
		str_addf(&f->text, "%s %u.%u.%u can be used (--engine podman)", host.podman.program,
			 host.podman.version / 10000, host.podman.version / 100 % 100,
			 host.podman.version % 100);
		if (host.podman.krun && host.podman.kvm)
			str_add(&f->text, ", and krun (--runtime krun)");
		plan_release(&plan);
	}
	spec_release(&spec);
}
