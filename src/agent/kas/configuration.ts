import { create } from '@bufbuild/protobuf'
import type { GrpcConnection } from '../../adapters/grpc/index.ts'
import {
  type AgentConfiguration,
  AgentConfigurationService,
  ConfigurationRequestSchema,
  type ConfigurationResponse,
} from '../../rpc/index.ts'
import {
  type Backoff,
  type Clock,
  Failure,
  type Log,
  logFieldsOf,
  minutes,
  pause,
  sayFailure,
  seconds,
  waitOf,
} from '../../std/index.ts'
import type { ConfigurationFollower } from '../ports/configuration-follower.ts'
import type { Reports } from '../ports/reports.ts'

export interface AgentMeta {
  version: string
  commitId: string
  podNamespace: string
  podName: string
}

interface ConfigurationOptions {
  connection: GrpcConnection
  clock: Clock
  log: Log
  reports: Pick<Reports, 'configuration' | 'again'>
  followers: readonly ConfigurationFollower[]
  meta: AgentMeta
  /** Called with the first configuration that was put into effect: from then on it is known who this agent is. */
  onKnown(agentId: bigint): void
  /** Hears that kas does not know the token, before there was any configuration: that is no trouble that passes by itself. */
  onRefused?: ((failure: Failure) => void) | undefined
  /** Hears what keeps configurations from coming. */
  onTrouble(trouble: string): void
  backoff?: Backoff | undefined
}

const BACKOFF: Backoff = { base: seconds(10), max: minutes(5), jitter: 1 }
const RESET = minutes(10)
/** A kas that ends streams sooner than this is not asked again at once. */
const BRIEF = seconds(1)

/** Follows the configuration until the signal aborts. Whatever happens to kas, the last good one stays in effect. */
export async function followConfiguration(options: ConfigurationOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, reports, onRefused, onTrouble, backoff = BACKOFF } = options
  const inEffect: InEffect = { commitId: '', agentId: 0n, url: undefined }
  let failures = 0
  let failedAt = 0
  while (!signal.aborted) {
    const opened = clock.now()
    try {
      await listen(options, inEffect, signal)
      if (clock.now() - opened < BRIEF) await pause(clock, BRIEF, signal)
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      if (failure.code === 'unauthorized' && inEffect.agentId === 0n && onRefused) return onRefused(failure)
      onTrouble(failure.message)
      log.warn('no configuration from kas', { error: failure })
      // A mistake in the file is for its author; that kas is away is not.
      if (failure.code === 'invalid') reports.configuration(inEffect.commitId, sayFailure(failure))
      if (clock.now() - failedAt > RESET) failures = 0
      failedAt = clock.now()
      await pause(clock, waitOf(backoff, failures++), signal)
    }
  }
}

/** The configuration that is in effect. */
interface InEffect {
  /** Empty at first. */
  commitId: string
  /** 0 until it is known. */
  agentId: bigint
  url: string | undefined
}

async function listen(options: ConfigurationOptions, inEffect: InEffect, signal: AbortSignal): Promise<void> {
  const { connection, meta, reports } = options
  const request = create(ConfigurationRequestSchema, {
    commitId: inEffect.commitId,
    agentMeta: { ...meta, kubernetesVersion: {} },
    skipRegister: true,
    berth: true,
  })
  const how = { signal, patient: true }
  reports.again()
  for await (const response of connection.stream(AgentConfigurationService.method.getConfiguration, request, how)) {
    if (signal.aborted) return
    const error = putIntoEffect(response, options, inEffect)
    reports.configuration(inEffect.commitId, error)
  }
}

/** Tells why the configuration is not in effect; an empty text when it is. */
function putIntoEffect(
  { configuration, commitId }: ConfigurationResponse,
  { log, followers, onKnown }: ConfigurationOptions,
  inEffect: InEffect,
): string {
  try {
    if (!configuration || commitId === '') throw new Failure('invalid', 'kas sent a configuration without content or commit')
    checkIdentity(configuration, inEffect)
    const steps = followers.map((follower) => follower.prepare(configuration))
    for (const step of steps) step()
    Object.assign(inEffect, { commitId, agentId: configuration.agentId, url: configuration.gitlabExternalUrl })
    log.info('configuration in effect', logFieldsOf(commitId))
    onKnown(configuration.agentId)
    return ''
  } catch (thrown) {
    const failure = Failure.from(thrown)
    log.error('configuration not put into effect', { ...logFieldsOf(commitId), error: failure })
    return `commit ${commitId.slice(0, 12)}: ${sayFailure(failure)}`
  }
}

/** Objects, Lease and inventories bear its number: another one would be another agent, and that is another process. */
function checkIdentity({ agentId, gitlabExternalUrl }: AgentConfiguration, before: InEffect): void {
  const remedy = 'Start the agent again if that is meant.'
  if (agentId <= 0n) throw new Failure('invalid', 'kas sent a configuration without agent_id')
  if (before.agentId !== 0n && before.agentId !== agentId)
    throw new Failure('invalid', `agent_id is ${agentId}, and was ${before.agentId} when this process began`, { remedy })
  if (before.url !== undefined && before.url !== gitlabExternalUrl)
    throw new Failure('invalid', 'gitlab_external_url is another one than when this process began', { remedy })
  if (gitlabExternalUrl !== '' && !URL.canParse(gitlabExternalUrl)) throw new Failure('invalid', 'gitlab_external_url is no URL')
}
