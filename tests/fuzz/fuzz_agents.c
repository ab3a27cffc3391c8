/* SPDX-License-Identifier: MIT */
/* A definition of an agent, as a user may write one: what is taken has a name, a program and no hole. */
#include <string.h>

#include "spec/agent.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct agent agent = { 0 };
	struct err err = { 0 };

	if (agent_read(&arena, "claude", (const char *)data, size, "f", &agent, &err) == 1) {
		check(!strcmp(agent.name, "claude") && agent.program[0]);
		for (size_t i = 0; i < agent.n_credentials; i++)
			check(agent.credentials[i].name);
		for (size_t i = 0; i < agent.n_env; i++)
			check(agent.env[i].name && agent.env[i].value);
		for (size_t i = 0; i < agent.files.len; i++)
			check(agent.files.v[i].path && agent.files.v[i].content);
	} else {
		check(err.msg[0]);
	}
	arena_release(&arena);
	return 0;
}
