import { createHash, randomInt } from 'node:crypto'
import type { Command } from 'commander'
import type { Kube } from '../../adapters/kube/index.ts'
import { type Agent, Agents, BERTH_NAMESPACE, keyOf, type Ref } from '../../api/index.ts'
import { durationOf, Failure, isFailure, redactUrls, Secret, timestamp } from '../../std/index.ts'
import type { ObjectOptions } from '../find-object.ts'
import { nameOfKind } from '../kinds.ts'
import { withKube, withKubeconfig, withNamespace } from '../options.ts'
import type { Shell } from '../shell.ts'

/** For verbs about one Agent. */
export const withAgent = (command: Command): Command =>
  withNamespace(withKubeconfig(command).argument('<agent>', 'name of the Agent', nameOfKind(Agents)), 'its namespace')

export interface AgentContext {
  shell: Shell
  kube: Kube
  ref: { name: string; namespace: string }
}

/** Does the work of a verb about one Agent, with the person's own rights. */
export const onAgent =
  <Options extends ObjectOptions, Result>(work: (context: AgentContext, options: Options) => Promise<Result>) =>
  (shell: Shell, name: string, options: Options): Promise<Result> =>
    withKube(shell, options, (kube) => work({ shell, kube, ref: { name, namespace: options.namespace } }, options))

/** Agents find the kas of their own cluster here. */
export const IN_CLUSTER = `grpcs://kas.${BERTH_NAMESPACE}.svc:8150`

/** An address without a port may stand: agents add it. */
export function checkedAddress(address: string): string {
  if (/^(grpcs?|wss?):\/\/[^\s@]+$/.test(address)) return address
  throw new Failure('invalid', `the address of kas is "${redactUrls(address)}"`, {
    remedy: 'Give it with --kas-address, like grpcs://kas.example.com.',
  })
}

export async function agentNamed(kube: Kube, ref: Ref): Promise<Agent> {
  const agent = await kube.get(Agents, ref)
  if (agent) return agent
  throw new Failure('not-found', `there is no Agent ${ref.name} in namespace ${ref.namespace}.`, {
    remedy: 'Register it with `berth agent create`, or see what there is with `berth agent list -A`.',
  })
}

export type AgentToken = NonNullable<Agent['spec']['tokens']>[number]

/** Describes a token before there is one. */
export interface TokenNote {
  name: string
  description?: string
  /** Such as `720h`; without it the token never ends. */
  expiresIn?: string
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 50 characters of 62 are 297 bits. Only the digest is written anywhere. */
export function newToken(
  { name, description, expiresIn }: TokenNote,
  now: number,
): { secret: Secret<string>; token: AgentToken } {
  const random = Array.from({ length: 50 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('')
  const secret = new Secret(`berth-agent-${random}`)
  const token: AgentToken = {
    name,
    sha256: createHash('sha256').update(secret.reveal()).digest('hex'),
    createdAt: timestamp(now),
    ...(description ? { description } : {}),
    ...(expiresIn ? { expiresAt: timestamp(now + lifetime(expiresIn)) } : {}),
  }
  return { secret, token }
}

function lifetime(text: string): number {
  if (/^(\d{1,6}[smh])+$/.test(text) && durationOf(text) > 0) return durationOf(text)
  throw new Failure('invalid', `--expires-in is "${text}"`, {
    remedy: 'Write hours, minutes and seconds, such as 720h or 1h30m.',
  })
}

const TRIES = 5

/** Changes the Agent as it stands now: somebody else may be at it. */
export async function changeAgent(kube: Kube, ref: Ref, change: (agent: Agent) => Partial<Agent['spec']>): Promise<Agent> {
  for (let left = TRIES; ; left--) {
    const agent = await agentNamed(kube, ref)
    const spec = change(agent)
    const { resourceVersion } = agent.metadata
    try {
      return await kube.patch(Agents, ref, { metadata: { resourceVersion }, spec })
    } catch (thrown) {
      if (left === 0 || !isFailure(thrown, 'conflict')) throw thrown
    }
  }
}

/** Throws `already-exists` where another token has the name. */
export async function addToken(kube: Kube, ref: Ref, note: TokenNote, now: number): Promise<Secret<string>> {
  const { secret, token } = newToken(note, now)
  await changeAgent(kube, ref, ({ spec: { tokens = [] } }) => {
    if (tokens.some(({ name }) => name === note.name))
      throw new Failure('already-exists', `Agent ${keyOf(ref)} has a token ${note.name} already`, {
        remedy: 'Choose another name with --name, or revoke that one first.',
      })
    return { tokens: [...tokens, token] }
  })
  return secret
}

/** People name an Agent by these words. */
export const nameFlags = ({ name, namespace = 'default' }: Ref): string => `${name} -n ${namespace}`
