import { type Agent, keyOf } from '../../api/index.ts'
import { Failure, systemClock } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { type OutputOptions, withKube, withOutput } from '../options.ts'
import { render, renderData } from '../output.ts'
import { actionVerb, groupVerb } from '../verb.ts'
import { type AgentToken, addToken, agentNamed, changeAgent, onAgent, type TokenNote, withAgent } from './registration.ts'

const add = actionVerb({
  examples: [['berth agent token add dev -n team-a --name next --expires-in 720h', 'for a month']],
  options: (command) =>
    withOutput(withAgent(command))
      .requiredOption('--name <name>', 'name of the token, to tell it from others')
      .option('--description <text>', 'what it is for')
      .option('--expires-in <duration>', 'when it ends, such as 720h; never without it'),
  run: onAgent(async ({ shell, kube, ref }, options: ObjectOptions & OutputOptions & TokenNote) => {
    const { name, output } = options
    const secret = (await addToken(kube, ref, options, systemClock.now())).reveal()
    if (output === 'table') shell.say(`Token ${name} of Agent ${keyOf(ref)}, which is shown this once:\n`)
    shell.print(output === 'table' ? secret : renderData(output, { agent: keyOf(ref), name, token: secret }))
  }),
})

const list = actionVerb({
  examples: [['berth agent token list dev -n team-a -o json', 'for scripts']],
  options: (command) => withOutput(withAgent(command)),
  run: onAgent(async ({ shell, kube, ref }, { output }: ObjectOptions & OutputOptions) => {
    const agent = await agentNamed(kube, ref)
    const now = systemClock.now()
    const rows = (agent.spec.tokens ?? []).map((each) => ({ ...shownToken(each), state: stateOf(each, agent, now) }))
    shell.print(
      render(output, rows, [
        { title: 'NAME', of: (row) => row.name },
        { title: 'STATE', of: (row) => row.state },
        { title: 'CREATED', of: (row) => row.createdAt ?? '-' },
        { title: 'EXPIRES', of: (row) => row.expiresAt ?? 'never' },
        { title: 'DESCRIPTION', of: (row) => row.description ?? '' },
      ]),
    )
  }),
})

/** The digest is nobody's business. */
const shownToken = ({ sha256: _, ...token }: AgentToken) => token

/** One whose digest another Agent had first opens nothing here. */
function stateOf({ sha256, expiresAt }: AgentToken, { status }: Agent, now: number): 'valid' | 'expired' | 'copied' {
  if (status?.tokens?.some((known) => known.sha256 === sha256 && known.copied)) return 'copied'
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}

const revoke = actionVerb({
  examples: [['berth agent token revoke dev first -n team-a', 'at once']],
  options: (command) => withAgent(command).argument('<token>', 'name of the token'),
  run: (shell, agent: string, revoked: string, options: ObjectOptions) =>
    withKube(shell, options, async (kube) => {
      const ref = { name: agent, namespace: options.namespace }
      await changeAgent(kube, ref, ({ spec: { tokens = [] } }) => {
        const left = tokens.filter(({ name }) => name !== revoked)
        if (left.length < tokens.length) return { tokens: left }
        throw new Failure('not-found', `Agent ${keyOf(ref)} has no token ${revoked}`, {
          remedy: `It has ${tokens.map(({ name }) => name).join(', ') || 'none'}.`,
        })
      })
      shell.print(`Token ${revoked} of Agent ${keyOf(ref)} is revoked; whatever was connected with it is disconnected.`)
    }),
})

export const tokenGroup = groupVerb({
  description: 'Add, list and revoke the tokens of an Agent. Each pod shows one; an Agent has 16 at most.',
  examples: [['berth agent token list dev -n team-a', 'when each was made, and when it ends']],
  parts: [
    { name: 'add', summary: 'add a token, and print it once', ...add },
    { name: 'list', summary: 'list the tokens, without what they are', ...list },
    { name: 'revoke', summary: 'remove a token, and end what is connected with it', ...revoke },
  ],
})
