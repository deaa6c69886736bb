import type { Command } from 'commander'
import { type Agent, keyOf } from '../../api/index.ts'
import { Failure, systemClock } from '../../std/index.ts'
import { exitCodes } from '../exit-codes.ts'
import { defineGroup } from '../group.ts'
import { examples, withKube, withOutput } from '../options.ts'
import { type Format, render, renderData } from '../output.ts'
import type { Shell } from '../shell.ts'
import type { Finish } from '../verb.ts'
import { type AgentOptions, addToken, agentNamed, changeTokens, type Token, type TokenNote, withAgent } from './registration.ts'

/** `berth agent token` */
export function defineToken(command: Command, shell: Shell, finish: Finish): void {
  command
    .description('Add, list and revoke the tokens of an Agent. Each pod shows one; an Agent has 16 at most.')
    .addHelpText('after', examples(['berth agent token list dev -n team-a', 'when each was made, and when it ends']))
  defineGroup(command, shell, finish, [
    { name: 'add', summary: 'add a token, and print it once', define: defineAdd },
    { name: 'list', summary: 'list the tokens, without what they are', define: defineTokens },
    { name: 'revoke', summary: 'remove a token, and end what is connected with it', define: defineRevoke },
  ])
}

interface AddOptions extends AgentOptions, TokenNote {
  output: Format
}

function defineAdd(command: Command, shell: Shell, finish: Finish): void {
  withOutput(withAgent(command))
    .requiredOption('--name <name>', 'name of the token, to tell it from others')
    .option('--description <text>', 'what it is for')
    .option('--expires-in <duration>', 'when it ends, such as 720h; never without it')
    .addHelpText('after', examples(['berth agent token add dev -n team-a --name next --expires-in 720h', 'for a month']))
    .action(
      finish((agent: string, options: AddOptions) =>
        withKube(shell, options, async (kube) => {
          const ref = { name: agent, namespace: options.namespace }
          const secret = await addToken(kube, ref, options, systemClock.now())
          if (options.output !== 'table') {
            shell.print(renderData(options.output, { agent: keyOf(ref), name: options.name, token: secret.reveal() }))
            return exitCodes.ok
          }
          shell.say(`Token ${options.name} of Agent ${keyOf(ref)}, which is shown this once:\n`)
          shell.print(secret.reveal())
          return exitCodes.ok
        }),
      ),
    )
}

function defineTokens(command: Command, shell: Shell, finish: Finish): void {
  withOutput(withAgent(command))
    .addHelpText('after', examples(['berth agent token list dev -n team-a -o json', 'for scripts']))
    .action(
      finish((name: string, options: AgentOptions & { output: Format }) =>
        withKube(shell, options, async (kube) => {
          const agent = await agentNamed(kube, { name, namespace: options.namespace })
          const now = systemClock.now()
          const rows = (agent.spec.tokens ?? []).map((token) => ({ ...shownToken(token), state: stateOf(token, agent, now) }))
          shell.print(
            render(options.output, rows, [
              { title: 'NAME', of: (row) => row.name },
              { title: 'STATE', of: (row) => row.state },
              { title: 'CREATED', of: (row) => row.createdAt ?? '-' },
              { title: 'EXPIRES', of: (row) => row.expiresAt ?? 'never' },
              { title: 'DESCRIPTION', of: (row) => row.description ?? '' },
            ]),
          )
          return exitCodes.ok
        }),
      ),
    )
}

/** The digest is nobody's business. */
const shownToken = ({ sha256: _, ...token }: Token) => token

/** One whose digest another Agent had first opens nothing here. */
function stateOf({ sha256, expiresAt }: Token, { status }: Agent, now: number): 'valid' | 'expired' | 'copied' {
  if (status?.tokens?.some((known) => known.sha256 === sha256 && known.copied)) return 'copied'
  return expiresAt !== undefined && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}

function defineRevoke(command: Command, shell: Shell, finish: Finish): void {
  withAgent(command)
    .argument('<token>', 'name of the token')
    .addHelpText('after', examples(['berth agent token revoke dev first -n team-a', 'at once']))
    .action(
      finish((agent: string, token: string, options: AgentOptions) =>
        withKube(shell, options, async (kube) => {
          const ref = { name: agent, namespace: options.namespace }
          await changeTokens(kube, ref, (tokens) => {
            const left = tokens.filter(({ name }) => name !== token)
            if (left.length < tokens.length) return left
            throw new Failure('not-found', `Agent ${keyOf(ref)} has no token ${token}`, {
              remedy: `It has ${tokens.map(({ name }) => name).join(', ') || 'none'}.`,
            })
          })
          shell.print(`Token ${token} of Agent ${keyOf(ref)} is revoked; whatever was connected with it is disconnected.`)
          return exitCodes.ok
        }),
      ),
    )
}
