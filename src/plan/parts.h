/* SPDX-License-Identifier: MIT */
/* The parts of a plan, for the files of this room: plan_make() puts them together. By file. */
#pragma once

#include "plan/plan.h"

struct agent;
struct exec_spec;

/* root.c: the whole, and its parts: the system's programs, or the image's; links; devices and /proc;
 * the private places and the home. */
int plan_root(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err);
void plan_system(struct plan *plan, const struct host *host);
void plan_links(struct plan *plan);
void plan_kernel(struct plan *plan, const struct host *host);
void plan_places(struct plan *plan, const struct spec *spec, const struct host *host);
/* /etc/hosts, with this machine's names where a port of it is inside. */
void plan_hosts(struct plan *plan, const struct spec *spec);
void plan_access_rules(struct plan *plan);

/* workspace.c */
int plan_workspace(struct plan *plan, const struct spec *spec, const struct host *host,
		   struct err *err);
int plan_mounts(struct plan *plan, const struct spec *spec, const struct host *host,
		struct err *err);

/* git.c: whether the session has a git directory of its own, before the workspace is planned; then
 * the project's, and those of its submodules, which lie in it. */
int plan_choose_git(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err);
/* The project's repository is inside: --only leaves out what lies around DIR. */
bool plan_sees_git(const struct spec *spec, const struct project_facts *project);
void plan_private_git(struct plan *plan, const struct host *host);

/* held.c: the file rules of 'run', before the workspace is planned, and when all mounts are. */
int plan_take_rules(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err);
int plan_check_rules(struct plan *plan, const struct spec *spec, struct err *err);

/* agent.c, env.c */
int plan_agent(struct plan *plan, const struct spec *spec, const struct host *host,
	       struct err *err);
void plan_env(struct plan *plan, const struct spec *spec, const struct host *host);

/* credentials.c, deploykey.c */
int plan_credentials(struct plan *plan, const struct spec *spec, const struct host *host,
		     const struct agent *agent, struct err *err);
/* Where the programs inside find the relay of a brokered credential. */
char *plan_relay_url(struct plan *plan, const struct plan_credential *c);
int plan_deploy_key(struct plan *plan, const struct spec *spec, const struct host *host,
		    struct err *err);

/* notify.c */
void plan_notify(struct plan *plan, const struct spec *spec, const struct host *host);

/* network.c: ports and who may be reached, without the resolver's file. */
int plan_reach(struct plan *plan, const struct spec *spec, const struct host *host,
	       struct err *err);
int plan_ports(struct plan *plan, const struct spec *spec, struct err *err);
/* The rules of the filtered network, whoever holds them. */
void plan_filter_rules(struct plan *plan, const struct spec *spec, const struct host *host);
char *plan_resolver(struct plan *plan, const struct host *host);

/* exec.c, builder.c: plans of their own, from the root to the command. */
int plan_exec(struct plan *plan, const struct spec *spec, const struct host *host, struct err *err);
void plan_exec_root(struct plan *plan, const struct exec_spec *exec, const struct host *host);
int plan_builder(struct plan *plan, const struct spec *spec, const struct host *host,
		 struct err *err);

/* podman.c: instead of plan_root() and plan_network(), for ENGINE_PODMAN; and why docker is not
 * driven. */
int plan_podman(struct plan *plan, const struct spec *spec, const struct host *host,
		struct err *err);
int plan_podman_network(struct plan *plan, const struct spec *spec, const struct host *host,
			struct err *err);
void plan_podman_limits(struct plan *plan);
int plan_no_docker(const struct host *host, struct err *err);

/* machine.c: --runtime krun, within plan_podman(); what limits are worth there; and, when all of it is
 * planned, what cannot be. */
int plan_machine_can(const struct spec *spec, const struct host *host, struct err *err);
void plan_machine(struct plan *plan, const struct spec *spec, const struct host *host);
void plan_machine_limits(struct plan *plan);
int plan_machine_check(const struct plan *plan, struct err *err);

/* apple.c: the same for ENGINE_APPLE. */
int plan_apple(struct plan *plan, const struct spec *spec, const struct host *host,
	       struct err *err);
int plan_apple_network(struct plan *plan, const struct spec *spec, const struct host *host,
		       struct err *err);
void plan_apple_limits(struct plan *plan, const struct spec *spec, const struct host *host);
/* The repository's own git directory, with what git obeys in it read-only. */
void plan_apple_git(struct plan *plan, const struct spec *spec, const struct host *host);
void plan_apple_notify(struct plan *plan, const struct host *host);
/* When all is planned: what cannot be said in container's grammar is refused. */
int plan_apple_check(struct plan *plan, struct err *err);
