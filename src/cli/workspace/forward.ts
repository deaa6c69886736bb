import { InvalidArgumentError } from 'commander'
import { nameOf, type Workspace } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { ObjectOptions } from '../find-object.ts'
import { portNumber } from '../options.ts'
import { actionVerb } from '../verb.ts'
import { insideWorkspace } from './inside.ts'
import { withWorkspace } from './workspace.ts'

interface Options extends ObjectOptions {
  address: string
}

interface Forwarded {
  /** Here; empty for any that is free, the other one's number without it. */
  local?: string
  /** There: a number, or the name of a port. */
  remote: string
}

export const verb = actionVerb({
  description:
    'Let ports of this machine lead to ports of the main pod of a workspace, until Ctrl-C. It goes by `kubectl port-forward`, and wants the right to that, as `berth exec` does.',
  examples: [
    ['berth forward web 3000 -n team-a', 'http://localhost:3000'],
    ['berth forward web 8080:app 5432', 'a port by its name, and another one'],
  ],
  options: (command) =>
    withWorkspace(command)
      .argument('<ports...>', '[LOCAL:]PORT, each a number, PORT also the name of one of its ports', forwarded)
      .option('--address <address>', 'where to listen', 'localhost'),
  run: (shell, name: string, ports: Forwarded[], options: Options) =>
    insideWorkspace<Options>(async ({ workspace, kubectl, pod }, { address }) => {
      const pairs = ports.map(({ local, remote }) => {
        const number = numberOf(workspace, remote)
        return `${local ?? number}:${number}`
      })
      const code = await kubectl('port-forward', `pod/${pod}`, '--address', address, ...pairs)
      // It is ended so.
      return shell.signal.aborted ? exitCodes.ok : code
    })(shell, name, options),
})

/** Commander's parser for ports, given again and again. */
function forwarded(text: string, before: Forwarded[] = []): Forwarded[] {
  const [first = '', second, ...more] = text.split(':')
  const [local, remote] = second === undefined ? [undefined, first] : [first, second]
  if (remote === '' || more.length > 0) throw new InvalidArgumentError('Write it like 3000, 8080:3000 or 8080:app.')
  if (local) portNumber(local)
  return [...before, { remote, ...(local !== undefined && { local }) }]
}

function numberOf(workspace: Workspace, port: string): number {
  if (/^\d+$/.test(port)) return portNumber(port)
  const ports = workspace.status?.ports ?? []
  const found = ports.find(({ name }) => name === port)
  if (found) return found.port
  const names = ports.map(({ name }) => name).join(', ')
  throw new Failure('not-found', `${nameOf(workspace)} has no port ${port}.`, {
    remedy: names ? `Name one of ${names}, or a number.` : 'Name a number.',
  })
}
