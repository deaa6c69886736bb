import { nameOf, refOf, type Workspace, Workspaces, workspaceStateOf, workspaceWishOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { isForBrowsers, openInBrowser } from '../browser.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { wholeNumber } from '../options.ts'
import type { Shell } from '../shell.ts'
import { actionVerb } from '../verb.ts'
import { refuseStopped } from './inside.ts'
import { setDesired } from './run-state.ts'
import { commandFor, onWorkspace, type WatchOptions, type WorkspaceContext, withWorkspace } from './workspace.ts'

interface Options extends WatchOptions {
  port?: string
  print?: boolean
  start?: boolean
}

export const verb = actionVerb({
  description: 'Open a workspace in the browser ($BROWSER, else that of the machine), and print its address.',
  examples: [
    ['berth open web -n team-a', 'its address'],
    ['berth open web --start', 'once it runs'],
    ['berth open web --port app --print', 'only print that of a port'],
  ],
  options: (command) =>
    withWorkspace(command)
      .option('--port <name>', 'the address of this port (default: that of the workspace)')
      .option('--print', 'print it only')
      .option('--start', 'start the workspace where it is stopped, and watch it until it runs')
      .option('--timeout <seconds>', 'with --start: how long to watch', wholeNumber, 600),
  run: onWorkspace(open),
})

async function open(context: WorkspaceContext, options: Options): Promise<ExitCode> {
  const { shell, kube } = context
  let { workspace } = context
  if (options.start && workspaceWishOf(workspace) === 'Stopped') {
    const code = await setDesired(
      { ...context, shell: quiet(shell) },
      { spec: { desiredState: 'Running' }, state: 'Running', said: '' },
      { ...options, watch: true, stay: 0 },
    )
    if (code !== exitCodes.ok) return code
    workspace = (await kube.get(Workspaces, refOf(workspace))) ?? workspace
  }
  refuseStopped(workspace)
  const url = urlOf(workspace, options.port)
  if (workspaceStateOf(workspace) !== 'Running')
    shell.say(`${nameOf(workspace)} is ${workspaceStateOf(workspace)}: nothing may answer there yet.\n`)
  shell.print(url)
  if (options.print) return exitCodes.ok
  return openInBrowser(shell, url)
}

/** The address is all that standard output has. */
const quiet = (shell: Shell): Shell => ({ ...shell, print: (text) => shell.say(`${text}\n`) })

function urlOf(workspace: Workspace, port: string | undefined): string {
  const { url: own, ports = [] } = workspace.status ?? {}
  const url = port === undefined ? own : ports.find(({ name }) => name === port)?.url
  if (url && isForBrowsers(url)) return url
  const names = ports.flatMap((each) => (each.url ? [each.name] : [])).join(', ')
  throw new Failure('not-found', `${nameOf(workspace)} has no address${port === undefined ? '' : ` for a port ${port}`}.`, {
    remedy: names
      ? `Name one of its ports with --port: ${names}.`
      : `Its class gives addresses where it has a dnsZone (docs/proxy.md). To reach a port from here: \`${commandFor('forward', workspace)}\` and the port.`,
  })
}
