import type { V1Container } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../../api/index.ts'
import type { Container, Devfile } from '../../../devfile/index.ts'
import { type EventCommand, type EventStep, runningContainers } from '../../../engines/devfiles/index.ts'
import { bringCommandOf } from './editor-presets.ts'
import { editorPortOf } from './hosts.ts'
import { ownResourcesOf } from './own-resources.ts'
import type { Addition, WorkspacePlan } from './plan.ts'
import { securityOf } from './rights.ts'

const TOOLS = '/.workspace-data/tools'
const VOLUME = 'workspace-tools'
/** The init container that brings the editor. */
export const EDITOR = 'berth-editor'
const MARKS = ['gl/inject-editor', 'berth.dev/inject-editor']
/** It copies files; a quota wants to hear how much that takes. */
const RESOURCES = { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '500m', memory: '512Mi' } }

/** The container that the editor runs in: the one that asks for it, else the first. */
export function editorContainerOf(devfile: Devfile): Container | undefined {
  const running = runningContainers(devfile).filter(({ dedicatedPod }) => !dedicatedPod)
  return running.find(({ attributes }) => MARKS.some((mark) => attributes[mark] === true)) ?? running[0]
}

/** The container as it is with the editor in it: it stays, unless it says what it runs. */
export function withEditor({ settings, devfile }: WorkspacePlan, container: Container): Container {
  if (editorPortOf(settings) === undefined || editorContainerOf(devfile)?.name !== container.name) return container
  const runsItself = container.command.length + container.args.length > 0 || container.attributes.overrideCommand === false
  return runsItself ? container : { ...container, overrideCommand: true }
}

/** The image of the editor puts it into a folder that its container has, too; there it is started. */
export function editorAddition(plan: WorkspacePlan): Addition {
  const { settings, devfile } = plan
  const { editor = {} } = settings
  const port = editorPortOf(settings)
  const container = editorContainerOf(devfile)
  if (port === undefined || !container) return {}
  const mounts = [{ name: VOLUME, mountPath: TOOLS }]
  const env = [
    { name: 'BERTH_TOOLS_DIR', value: TOOLS },
    { name: 'BERTH_EDITOR_PORT', value: String(port) },
    { name: 'GL_TOOLS_DIR', value: TOOLS },
    { name: 'GL_EDITOR_PORT', value: String(port) },
    { name: 'GL_EDITOR_LOG_LEVEL', value: 'info' },
  ]
  const bringer: V1Container = {
    name: EDITOR,
    image: editor.image ?? '',
    ...bringCommandOf(editor),
    env,
    resources: ownResourcesOf(plan, RESOURCES),
    volumeMounts: mounts,
    securityContext: securityOf(settings),
  }
  return { initContainers: [bringer], volumes: [{ name: VOLUME, emptyDir: {} }], env, mounts, only: container.name }
}

/** The image may have brought either of two files that start the editor: Berth's name for it, and GitLab's. */
const withStart = (then: string) => `for file in "$BERTH_TOOLS_DIR/start" "$BERTH_TOOLS_DIR/init_tools.sh"; do
  [ -x "$file" ] && ${then}
done
echo "the image of the editor has put neither start nor init_tools.sh into $BERTH_TOOLS_DIR" >&2
exit 127
`

/** The start of the editor, which nothing waits for: whether it is up is for its probe to say. */
const start: EventCommand = { id: EDITOR, commandLine: withStart('exec "$file"'), dir: '', env: [], waits: false, limit: 0 }

/** Fails where there is nothing to start, for which a probe would wait for minutes. */
export const EDITOR_CHECK = `${EDITOR}-brought`
const check: EventCommand = { ...start, id: EDITOR_CHECK, commandLine: withStart('exit 0'), waits: true }

/** Who names an image alone may name one that brings nothing; what brings a preset fails by itself. */
export const editorSteps = ({ editor }: WorkspaceClassSpec): EventStep[] => (editor?.preset ? [[start]] : [[check], [start]])
