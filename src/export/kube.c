/* SPDX-License-Identifier: MIT */
/* Kubernetes: a Pod, a Job, and what agent-sandbox (agents.x-k8s.io) makes pods from. */
#include <string.h>

#include "export/pod.h"
#include "export/yaml.h"
#include "net/policy.h"

#define CLAIM_SIZE "1Gi"
#define FINISHED_TTL 3600 /* seconds that an ended job can be looked at */

struct writer {
	struct str *out;
	const struct task *task;
};

static void add_document(struct writer *w, struct json_object *object)
{
	str_add(w->out, "---\n");
	yaml_add(w->out, object);
	json_object_put(object);
}

/* The head that every object has; the rest is the caller's. */
static struct json_object *new_object(const struct writer *w, const char *api, const char *kind,
				      const char *part)
{
	struct json_object *object = json_object_new_object();
	char name[64];

	json_put_text(object, "apiVersion", api);
	json_put_text(object, "kind", kind);
	json_put(object, "metadata",
		 pod_metadata(w->task, part ? pod_part(w->task, name, part) : w->task->name));
	return object;
}

/* --- what stands beside the pod --- */

static void add_input(struct writer *w)
{
	struct json_object *map = new_object(w, "v1", "ConfigMap", "in");

	json_put_text(json_put_map(map, "data"), TASK_SCRIPT, task_script());
	if (w->task->bundle)
		json_put_text(json_put_map(map, "binaryData"), TASK_BUNDLE, w->task->bundle);
	add_document(w, map);
}

static void put_claim_spec(struct json_object *claim)
{
	struct json_object *spec = json_put_map(claim, "spec");

	json_push_text(json_put_list(spec, "accessModes"), "ReadWriteOnce");
	json_put_text(json_put_map(json_put_map(spec, "resources"), "requests"), "storage",
		      CLAIM_SIZE);
}

static void add_output(struct writer *w)
{
	struct json_object *claim = new_object(w, "v1", "PersistentVolumeClaim", "out");

	put_claim_spec(claim);
	add_document(w, claim);
}

static void add_policy(struct writer *w)
{
	struct json_object *policy = new_object(w, "networking.k8s.io/v1", "NetworkPolicy", NULL);
	struct json_object *spec = json_put_map(policy, "spec");
	struct json_object *types;

	json_put(spec, "podSelector", pod_selector(w->task));
	types = json_put_list(spec, "policyTypes");
	json_push_text(types, "Ingress");
	json_push_text(types, "Egress");
	json_put(spec, "ingress", pod_ingress(w->task));
	json_put(spec, "egress", pod_egress(w->task));
	add_document(w, policy);
}

/* --- hosts by name, which only Cilium knows --- */

static void put_cilium_ports(struct json_object *egress, const char *port, const char *protocol,
			     bool with_names)
{
	struct json_object *entry = json_push_map(json_put_list(egress, "toPorts"));
	struct json_object *place = json_push_map(json_put_list(entry, "ports"));

	json_put_text(place, "port", port);
	json_put_text(place, "protocol", protocol);
	/* Cilium learns the addresses of names from the answers that pass here. */
	if (with_names)
		json_put_text(json_push_map(json_put_list(json_put_map(entry, "rules"), "dns")),
			      "matchPattern", "*");
}

static void put_fqdn(struct json_object *list, const struct rule *rule)
{
	struct json_object *egress = json_push_map(list);
	struct json_object *name = json_push_map(json_put_list(egress, "toFQDNs"));
	char text[256];

	snprintf(text, sizeof(text), "%s%s", rule->kind == RULE_BELOW ? "*." : "", rule->host);
	json_put_text(name, rule->kind == RULE_BELOW ? "matchPattern" : "matchName", text);
	if (!rule->port)
		return;
	snprintf(text, sizeof(text), "%u", rule->port);
	put_cilium_ports(egress, text, "TCP", false);
}

static void add_cilium(struct writer *w)
{
	struct json_object *policy = new_object(w, "cilium.io/v2", "CiliumNetworkPolicy", "names");
	struct json_object *spec = json_put_map(policy, "spec"), *list, *dns, *labels;

	json_put(spec, "endpointSelector", pod_selector(w->task));
	list = json_put_list(spec, "egress");
	dns = json_push_map(list);
	labels = json_put_map(json_push_map(json_put_list(dns, "toEndpoints")), "matchLabels");
	json_put_text(labels, "k8s:io.kubernetes.pod.namespace", "kube-system");
	json_put_text(labels, "k8s-app", "kube-dns");
	put_cilium_ports(dns, "53", "ANY", true);
	for (size_t i = 0; i < w->task->n_allow; i++)
		if (w->task->allow[i].kind != RULE_RANGE)
			put_fqdn(list, &w->task->allow[i]);
	add_document(w, policy);
}

static bool names_hosts(const struct task *task)
{
	for (size_t i = 0; i < task->n_allow; i++)
		if (task->allow[i].kind != RULE_RANGE)
			return true;
	return false;
}

/* --- the kinds --- */

static void put_template(struct json_object *map, const char *key, const struct task *task,
			 enum pod_use use)
{
	struct json_object *template = json_put_map(map, key);

	pod_labels(json_put_map(json_put_map(template, "metadata"), "labels"), task);
	json_put(template, "spec", pod_spec(task, use));
}

static void add_pod(struct writer *w)
{
	struct json_object *pod = new_object(w, "v1", "Pod", NULL);

	json_put(pod, "spec", pod_spec(w->task, POD_TASK));
	add_output(w);
	add_policy(w);
	add_document(w, pod);
}

static void add_job(struct writer *w)
{
	struct json_object *job = new_object(w, "batch/v1", "Job", NULL);
	struct json_object *spec = json_put_map(job, "spec");

	json_put(spec, "backoffLimit", json_object_new_int(0));
	json_put(spec, "ttlSecondsAfterFinished", json_object_new_int(FINISHED_TTL));
	put_template(spec, "template", w->task, POD_TASK);
	add_output(w);
	add_policy(w);
	add_document(w, job);
}

/* Claims that the controller makes for each sandbox, named as the volumes of the pod. */
static void put_claim_templates(struct json_object *spec)
{
	static const char *const names[] = { "workspace", "out" };
	struct json_object *list = json_put_list(spec, "volumeClaimTemplates");

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct json_object *claim = json_push_map(list);

		json_put_text(json_put_map(claim, "metadata"), "name", names[i]);
		put_claim_spec(claim);
	}
}

static void add_sandbox(struct writer *w)
{
	struct json_object *sandbox = new_object(w, "agents.x-k8s.io/v1beta1", "Sandbox", NULL);
	struct json_object *spec = json_put_map(sandbox, "spec");

	put_template(spec, "podTemplate", w->task, POD_KEPT);
	put_claim_templates(spec);
	json_put(spec, "service", json_object_new_boolean(false));
	json_put_text(spec, "shutdownPolicy", "Retain");
	json_put_text(spec, "operatingMode", "Running");
	add_policy(w);
	add_document(w, sandbox);
}

#define EXTENSIONS "extensions.agents.x-k8s.io/v1beta1"

/* No variable of a task is in here: a claim that brings some starts cold. */
static void add_warm_template(struct writer *w)
{
	struct json_object *template = new_object(w, EXTENSIONS, "SandboxTemplate", NULL);
	struct json_object *spec = json_put_map(template, "spec"), *policy;

	put_template(spec, "podTemplate", w->task, POD_WARM);
	json_put_text(spec, "envVarsInjectionPolicy", "Disallowed");
	json_put_text(spec, "volumeClaimTemplatesPolicy", "Disallowed");
	if (names_hosts(w->task)) {
		json_put_text(spec, "networkPolicyManagement", "Unmanaged");
	} else {
		policy = json_put_map(spec, "networkPolicy");
		json_put(policy, "ingress", pod_ingress(w->task));
		json_put(policy, "egress", pod_egress(w->task));
		json_put_text(spec, "networkPolicyManagement", "Managed");
	}
	add_document(w, template);
}

static void add_template(struct writer *w)
{
	struct json_object *pool, *claim, *spec;
	char name[64];

	if (names_hosts(w->task))
		add_policy(w);
	add_warm_template(w);
	pool = new_object(w, EXTENSIONS, "SandboxWarmPool", "pool");
	spec = json_put_map(pool, "spec");
	json_put(spec, "replicas", json_object_new_int((int)w->task->replicas));
	json_put_text(json_put_map(spec, "sandboxTemplateRef"), "name", w->task->name);
	json_put_text(json_put_map(spec, "updateStrategy"), "type", "OnReplenish");
	add_document(w, pool);
	claim = new_object(w, EXTENSIONS, "SandboxClaim", "claim");
	spec = json_put_map(claim, "spec");
	json_put_text(json_put_map(spec, "warmPoolRef"), "name", pod_part(w->task, name, "pool"));
	spec = json_put_map(spec, "lifecycle");
	json_put(spec, "ttlSecondsAfterFinished", json_object_new_int(FINISHED_TTL));
	json_put_text(spec, "shutdownPolicy", "Delete");
	add_document(w, claim);
}

static const struct {
	const char *name;
	void (*add)(struct writer *w);
} kinds[] = {
	{ "pod", add_pod },
	{ "job", add_job },
	{ "sandbox", add_sandbox },
	{ "template", add_template },
};
const char *const kube_kinds[] = { "pod", "job", "sandbox", "template", NULL };

/* --- the whole --- */

static int check(const struct task *task, struct err *err)
{
	if (task->spec->net == NET_HOST)
		return err_usage(err, "a cluster's node does not lend its network");
	if (task->filtered && task->n_deny) {
		err_usage(err, "hosts to deny cannot be written for a cluster");
		return err_hint(err, "there only what is allowed counts: leave --deny away, and "
				     "name the hosts to --allow one by one");
	}
	if (task->bundle_is_large) {
		err_usage(err, "the project's history is larger than a ConfigMap holds (%zu KiB)",
			  TASK_BUNDLE_MAX >> 10);
		return err_hint(err, "'wrapix run --on kube:NAMESPACE' brings it there itself");
	}
	return 0;
}

static void add_head(struct writer *w)
{
	const struct task *task = w->task;

	str_addf(
		w->out,
		"# %s, for Kubernetes. Made by 'wrapix export kube' from the project's settings.\n",
		task->name);
	if (task->secrets.len)
		str_addf(w->out,
			 "# Secrets are the cluster's: kubectl create secret generic "
			 "%s-secrets --from-literal=VARIABLE=VALUE, for:\n#",
			 task->name);
	for (size_t i = 0; i < task->secrets.len; i++)
		str_addf(w->out, " %s", task->secrets.v[i]);
	str_add(w->out, task->secrets.len ? "\n" : "");
	task_add_weaker(w->out, task, FORM_KUBE, "# ");
}

/* A pod for one run, with its policies; it knows the secrets of the task. */
void kube_lend(struct str *out, const struct task *task)
{
	struct writer w = { out, task };
	struct json_object *pod = new_object(&w, "v1", "Pod", NULL);

	json_put(pod, "spec", pod_spec(task, POD_LENT));
	if (names_hosts(task))
		add_cilium(&w);
	add_policy(&w);
	add_document(&w, pod);
}

int task_kube(struct str *out, const struct task *task, const char *kind, struct err *err)
{
	struct writer w = { out, task };
	int r = check(task, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i].name, kind ? kind : "pod") != 0)
			continue;
		add_head(&w);
		add_input(&w);
		if (names_hosts(task))
			add_cilium(&w);
		kinds[i].add(&w);
		return 0;
	}
	return r < 0 ? r : err_usage(err, "'%s' is none of pod, job, sandbox, template", kind);
}
