import { equal, is, match } from 'uvu/assert'
import { stringify } from 'yaml'
import { isObstacle } from '../../../../src/operator/workspace/place/obstacle.ts'
import { createDevfileParser, readDevfile } from '../../../../src/operator/workspace/project/devfile.ts'
import { createYamlReaders } from '../../../../src/std/index.ts'
import { describe } from '../../../support/suite.ts'

const read = (attributes: unknown, whole: unknown = {}) =>
  readDevfile(
    {
      apiVersion: 'berth.dev/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'web', namespace: 'team-a', uid: '1' },
      spec: {
        devfile: {
          inline: stringify({
            schemaVersion: '2.3.0',
            attributes: whole,
            components: [{ name: 'tools', attributes, container: { image: 'tools:1', memoryLimit: '1Gi' } }],
          }),
        },
      },
    },
    { maxResourcesPerWorkspace: { limits: { memory: '2Gi' } } },
    { source: undefined, project: undefined, parser: createDevfileParser(createYamlReaders()) },
  )
const refusal = async (attributes: unknown, whole?: unknown): Promise<string> => {
  const found = await read(attributes, whole)
  return isObstacle(found) ? found.message : 'taken'
}
const container = (override: unknown) => refusal({ 'container-overrides': override })
const pod = (spec: unknown) => refusal({ 'pod-overrides': { spec } })

/** What would undo what Berth holds a workspace to. */
const REFUSED: [why: string, found: Promise<string>, says: RegExp][] = [
  ['rights', container({ securityContext: { privileged: true } }), /securityContext\.privileged must be false/],
  ['escalation', container({ securityContext: { allowPrivilegeEscalation: true } }), /allowPrivilegeEscalation must be false/],
  ['capabilities', container({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }), /capabilities cannot be set/],
  ['capabilities that are dropped less', container({ securityContext: { capabilities: { drop: [] } } }), /cannot be set/],
  ['root', container({ securityContext: { runAsUser: 0 } }), /runAsUser must be a number above 0/],
  ['root for the pod', pod({ securityContext: { runAsUser: 0 } }), /runAsUser must be a number above 0/],
  ['any user', pod({ securityContext: { runAsNonRoot: false } }), /runAsNonRoot must be true/],
  ['other groups', pod({ securityContext: { fsGroup: 1 } }), /fsGroup cannot be set/],
  ['an unconfined profile', pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }), /seccompProfile cannot be set/],
  ['kernel settings', pod({ securityContext: { sysctls: [] } }), /sysctls cannot be set/],
  ['variables', container({ env: [] }), /env cannot be set: the devfile has a field/],
  ["others' Secrets", container({ envFrom: [{ secretRef: { name: 'theirs' } }] }), /envFrom cannot be set: it could lead/],
  ['mounts', container({ volumeMounts: [] }), /volumeMounts cannot be set/],
  ['another image', container({ image: 'x' }), /image cannot be set/],
  ['hooks', container({ lifecycle: {} }), /lifecycle cannot be set: the events/],
  [
    'a probe of another host',
    container({ livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }),
    /httpGet\.host cannot/,
  ],
  ['volumes', pod({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }), /volumes cannot be set/],
  ['containers', pod({ containers: [] }), /containers cannot be set/],
  ["the node's network", pod({ hostNetwork: true }), /hostNetwork cannot be set: that is for the class/],
  ["the node's users", pod({ hostUsers: true }), /hostUsers cannot be set/],
  ['another runtime', pod({ runtimeClassName: 'runc' }), /runtimeClassName cannot be set/],
  ['an account', pod({ serviceAccountName: 'admin' }), /serviceAccountName cannot be set/],
  ['a priority', pod({ priorityClassName: 'system-node-critical' }), /priorityClassName cannot be set/],
  ['a node past the scheduler', pod({ nodeName: 'n1' }), /nodeName cannot be set/],
  ['labels', refusal({ 'pod-overrides': { metadata: { labels: { app: 'theirs' } } } }), /labels cannot be set: labels decide/],
  [
    'annotations that plugins obey',
    refusal({ 'pod-overrides': { metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': 'x' } } } }),
    /annotations must be texts whose names are not/,
  ],
  ['what nobody knows', container({ colour: 'red' }), /colour cannot be set \(leave it out; there is resources, imagePullPolicy/],
  ['what objects have by birth', container({ constructor: 1 }), /constructor cannot be set/],
  ['directives', pod({ tolerations: [{ $patch: 'replace' }] }), /tolerations\[0\]\.\$patch is a directive/],
  ['a text', container('{}'), /container-overrides must have fields/],
  [
    'more than the class allows',
    container({ resources: { limits: { memory: '3Gi' } } }),
    /more than the 2Gi that the class allows/,
  ],
  ['no limit where the class has one', container({ resources: { limits: { memory: null } } }), /needs a memoryLimit/],
]

describe('workspace: overrides', (it) => {
  for (const [why, found, says] of REFUSED) it(`refuse ${why}`, async () => match(await found, says))

  it('are told all at once, each by its component, attribute and field', async () => {
    const own = { 'container-overrides': { env: [] }, 'pod-overrides': { spec: { hostPID: true } } }
    const said = await refusal(own, { 'pod-overrides': { spec: { volumes: [] } } })
    match(said, /^spec\.devfile\.inline has 3 mistakes: component "tools", attribute container-overrides\.env cannot be set/)
    match(
      said,
      /; component "tools", attribute pod-overrides\.spec\.hostPID cannot .*; attribute pod-overrides\.spec\.volumes cannot/,
    )
  })

  it("of processor and memory are the component's own", async () => {
    const found = await read({ 'container-overrides': { resources: { limits: { memory: '2Gi', cpu: 1 } } } })
    equal(!isObstacle(found) && found.devfile.containers[0]?.resources, { memoryLimit: '2Gi', cpuLimit: '1' })
  })

  it('that only tighten are taken', async () => {
    is(await container({ securityContext: { privileged: false, runAsNonRoot: true, runAsUser: 7 }, tty: true }), 'taken')
    is(await pod({ nodeSelector: { a: 'b' }, dnsPolicy: 'None', securityContext: { runAsUser: 7 } }), 'taken')
  })
})
