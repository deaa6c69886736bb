import { type Agent, keyOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withKube, withOutput } from '../options.ts'
import { type OutputFormat, render } from '../output.ts'
import { actionVerb } from '../verb.ts'
import { agentNamed, changeAgent, withAgent } from './registration.ts'

interface Options extends ObjectOptions, OutputOptions {
  dryRun?: boolean
}

export const trust = actionVerb({
  description:
    'Trust the GitProjects that took the place of others. Where a GitProject was deleted and another one has its path, the agent keeps what it has until then, and the Agent says ProjectReplaced.',
  examples: [
    ['berth agent trust dev -n team-a --dry-run', 'see which GitProjects are held back'],
    ['berth agent trust dev team-a/config -n team-a', 'go on with this one'],
  ],
  options: (command) =>
    withOutput(withAgent(command))
      .argument('[paths...]', 'paths of these GitProjects; without any, all that are held back')
      .option('--dry-run', 'show what would be trusted, and change nothing'),
  run: (shell, name: string, paths: string[], options: Options) =>
    withKube(shell, options, async (kube) => {
      const ref = { name, namespace: options.namespace }
      const held = heldIn(await agentNamed(kube, ref), paths)
      if (held.length > 0 && !options.dryRun)
        await changeAgent(kube, ref, ({ spec }) => ({ trustedProjects: withTrusted(spec.trustedProjects ?? [], held) }))
      if (options.output === 'table' && held.length === 0) shell.print(`Agent ${keyOf(ref)} waits for no GitProject.`)
      else shell.print(printed(options.output, held))
    }),
})

type HeldProject = ReturnType<typeof heldIn>[number]

/** Those that took the place of the one with the uid `before`. */
function heldIn(agent: Agent, paths: readonly string[]) {
  const held = (agent.status?.knownProjects ?? []).flatMap(({ path, uid, replacedBy }) =>
    replacedBy ? [{ path, ...replacedBy, before: uid }] : [],
  )
  const unknown = paths.find((path) => !held.some((one) => one.path === path))
  if (unknown !== undefined)
    throw new Failure('not-found', `Agent ${keyOf(agent.metadata)} waits for no GitProject with the path ${unknown}`, {
      remedy: `It waits for ${held.map(({ path }) => path).join(', ') || 'none'}.`,
    })
  return paths.length === 0 ? held : held.filter(({ path }) => paths.includes(path))
}

type Trusted = NonNullable<Agent['spec']['trustedProjects']>

const withTrusted = (before: Trusted, held: readonly HeldProject[]): Trusted => [
  ...before.filter(({ path }) => !held.some((one) => one.path === path)),
  ...held.map(({ path, uid }) => ({ path, uid })),
]

const printed = (format: OutputFormat, held: HeldProject[]): string =>
  render(format, held, [
    { title: 'PATH', of: ({ path }) => path },
    { title: 'GITPROJECT', of: keyOf },
    { title: 'UID', of: ({ uid }) => uid },
  ])
