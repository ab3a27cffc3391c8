# SPDX-License-Identifier: MIT
"""Schemas of what 'wrapix export' writes, as far as it writes them: a field that is not here is a mistake.

The core objects are those of Kubernetes 1.30 and later; the agent-sandbox ones v1beta1 of August 2026; Cilium's v2.
"""


def obj(required=(), **properties):
    return {"type": "object", "properties": {k.rstrip("_"): v for k, v in properties.items()},
            "required": list(required), "additionalProperties": False}


def listed(of):
    return {"type": "array", "items": of}


def words(*values):
    return {"enum": list(values)}


TEXT = {"type": "string"}
TRUTH = {"type": "boolean"}
COUNT = {"type": "integer", "minimum": 0}
PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
LABEL = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
LABELS = {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"}}
QUANTITY = {"type": "string", "pattern": "^[0-9]+(m|Ki|Mi|Gi|Ti)?$"}
CIDR = {"type": "string", "pattern": "^[0-9a-f.:]+/[0-9]+$"}
METADATA = obj(("name",), name=LABEL, labels=LABELS)
SELECTOR = obj(matchLabels=LABELS)

ENV = obj(("name",), name={"type": "string", "pattern": "^[-._a-zA-Z][-._a-zA-Z0-9]*$"}, value=TEXT,
          valueFrom=obj(secretKeyRef=obj(("name", "key"), name=LABEL, key=TEXT, optional=TRUTH)))
CONTAINER = obj(("name", "image", "securityContext"), name=LABEL, image=TEXT, command=listed(TEXT), args=listed(TEXT),
                workingDir=TEXT, stdin=TRUTH, stdinOnce=TRUTH, env=listed(ENV),
                resources=obj(limits=obj(**{"cpu": QUANTITY, "memory": QUANTITY, "ephemeral-storage": QUANTITY})),
                ports=listed(obj(("containerPort",), containerPort=PORT)),
                # What the "restricted" standard asks for is required here.
                securityContext=obj(("allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem"),
                                    allowPrivilegeEscalation=words(False), readOnlyRootFilesystem=words(True),
                                    capabilities=obj(("drop",), drop=words(["ALL"]))),
                volumeMounts=listed(obj(("name", "mountPath"), name=LABEL, mountPath=TEXT, readOnly=TRUTH)))
VOLUME = obj(("name",), name=LABEL, emptyDir=obj(medium=words("Memory")), configMap=obj(("name",), name=LABEL),
             persistentVolumeClaim=obj(("claimName",), claimName=LABEL))
POD_SPEC = obj(("containers", "securityContext", "automountServiceAccountToken", "hostUsers"),
               restartPolicy=words("Never", "OnFailure", "Always"), automountServiceAccountToken=words(False),
               enableServiceLinks=TRUTH, hostUsers=words(False), runtimeClassName=LABEL,
               securityContext=obj(("runAsNonRoot", "seccompProfile"), runAsNonRoot=words(True), runAsUser=COUNT,
                                   runAsGroup=COUNT, fsGroup=COUNT, seccompProfile=obj(type=words("RuntimeDefault"))),
               containers=listed(CONTAINER), volumes=listed(VOLUME))
TEMPLATE = obj(("spec",), metadata=obj(labels=LABELS, annotations=LABELS), spec=POD_SPEC)
CLAIM_SPEC = obj(("accessModes", "resources"), accessModes=listed(words("ReadWriteOnce")),
                 resources=obj(requests=obj(storage=QUANTITY)))
CLAIMS = listed(obj(("metadata", "spec"), metadata=obj(("name",), name=LABEL, labels=LABELS, annotations=LABELS), spec=CLAIM_SPEC))

POLICY_PORTS = listed(obj(protocol=words("TCP", "UDP", "SCTP"), port=PORT))
PEERS = listed(obj(podSelector=SELECTOR, namespaceSelector=SELECTOR,
                   ipBlock=obj(("cidr",), **{"cidr": CIDR, "except": listed(CIDR)})))
INGRESS = listed(obj(**{"from": PEERS, "ports": POLICY_PORTS}))
EGRESS = listed(obj(to=PEERS, ports=POLICY_PORTS))
CILIUM_PORTS = listed(obj(ports=listed(obj(port={"type": "string", "pattern": "^[0-9]+$"}, protocol=words("TCP", "UDP", "ANY"))),
                          rules=obj(dns=listed(obj(matchName=TEXT, matchPattern=TEXT)))))


def whole(api, kind, **more):
    return obj(("apiVersion", "kind", "metadata"), apiVersion=words(api), kind=words(kind), metadata=METADATA, **more)


EXTENSIONS = "extensions.agents.x-k8s.io/v1beta1"
KINDS = {
    "Pod": whole("v1", "Pod", spec=POD_SPEC),
    "Job": whole("batch/v1", "Job", spec=obj(("template",), backoffLimit=COUNT, ttlSecondsAfterFinished=COUNT, template=TEMPLATE)),
    "ConfigMap": whole("v1", "ConfigMap", data={"type": "object", "additionalProperties": TEXT},
                       binaryData={"type": "object", "additionalProperties": {"type": "string", "pattern": "^[A-Za-z0-9+/]*=*$"}}),
    "PersistentVolumeClaim": whole("v1", "PersistentVolumeClaim", spec=CLAIM_SPEC),
    "NetworkPolicy": whole("networking.k8s.io/v1", "NetworkPolicy",
                           spec=obj(("podSelector",), podSelector=SELECTOR, policyTypes=listed(words("Ingress", "Egress")),
                                    ingress=INGRESS, egress=EGRESS)),
    "CiliumNetworkPolicy": whole("cilium.io/v2", "CiliumNetworkPolicy",
                                 spec=obj(("endpointSelector",), endpointSelector=SELECTOR,
                                          egress=listed(obj(toEndpoints=listed(SELECTOR), toPorts=CILIUM_PORTS,
                                                            toFQDNs=listed(obj(matchName=TEXT, matchPattern=TEXT)))))),
    "Sandbox": whole("agents.x-k8s.io/v1beta1", "Sandbox",
                     spec=obj(("podTemplate",), podTemplate=TEMPLATE, volumeClaimTemplates=CLAIMS, service=TRUTH, shutdownTime=TEXT,
                              shutdownPolicy=words("Retain", "Delete"), operatingMode=words("Running", "Suspended"))),
    "SandboxTemplate": whole(EXTENSIONS, "SandboxTemplate",
                             spec=obj(("podTemplate",), podTemplate=TEMPLATE, volumeClaimTemplates=CLAIMS, service=TRUTH,
                                      networkPolicy=obj(ingress=INGRESS, egress=EGRESS),
                                      networkPolicyManagement=words("Managed", "Unmanaged"),
                                      envVarsInjectionPolicy=words("Disallowed", "Allowed", "Overrides"),
                                      volumeClaimTemplatesPolicy=words("Disallowed", "Allowed", "Overrides"))),
    "SandboxWarmPool": whole(EXTENSIONS, "SandboxWarmPool",
                             spec=obj(("sandboxTemplateRef",), replicas=COUNT, sandboxTemplateRef=obj(("name",), name=LABEL),
                                      updateStrategy=obj(type=words("OnReplenish", "Recreate")))),
    "SandboxClaim": whole(EXTENSIONS, "SandboxClaim",
                          spec=obj(("warmPoolRef",), warmPoolRef=obj(("name",), name=LABEL),
                                   lifecycle=obj(shutdownTime=TEXT, ttlSecondsAfterFinished=COUNT,
                                                 shutdownPolicy=words("Retain", "Delete", "DeleteForeground")),
                                   additionalPodMetadata=obj(labels=LABELS, annotations=LABELS))),
}

COMPOSE = obj(("services",), name=LABEL, services=obj(wrapix=obj(
    ("image", "cap_drop", "read_only", "security_opt"), image=TEXT, command=listed(TEXT), working_dir=TEXT, user=TEXT,
    userns_mode=TEXT, init=TRUTH, stdin_open=TRUTH, tty=TRUTH, read_only=words(True), cap_drop=words(["ALL"]),
    security_opt=words(["no-new-privileges:true"]), volumes=listed(TEXT), tmpfs=listed(TEXT), environment=listed(TEXT),
    network_mode=words("none"), ports=listed(TEXT), cpus={"type": "number"}, mem_limit=COUNT, pids_limit=COUNT)))

DEVCONTAINER = obj(("image", "workspaceMount", "workspaceFolder"), name=TEXT, image=TEXT, workspaceMount=TEXT, workspaceFolder=TEXT,
                   init=TRUTH, updateRemoteUserUID=TRUTH, runArgs=listed(TEXT), mounts=listed(TEXT),
                   containerEnv={"type": "object", "additionalProperties": TEXT},
                   remoteEnv={"type": "object", "additionalProperties": TEXT}, forwardPorts=listed(PORT), postAttachCommand=listed(TEXT))
