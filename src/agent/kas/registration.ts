import { create } from '@bufbuild/protobuf'
import { type GrpcConnection, UNIMPLEMENTED } from '../../adapters/grpc/index.ts'
import type { Kube } from '../../adapters/kube/index.ts'
import { AgentRegistrar, RegisterRequestSchema } from '../../rpc/index.ts'
import { type Backoff, type Clock, Failure, type Log, minutes, pause, seconds, waitOf } from '../../std/index.ts'
import type { AgentMeta } from './configuration.ts'

interface RegistrationOptions {
  connection: GrpcConnection
  kube: Pick<Kube, 'read'>
  clock: Clock
  log: Log
  meta: AgentMeta
  /** Random, and the same for the life of the process. */
  podId: bigint
}

const INTERVAL = minutes(5)
const BACKOFF: Backoff = { base: seconds(2), max: minutes(1), jitter: 1 }

/** Every five minutes until the signal aborts; after a failure sooner. kas may not know the call: then nothing is lost. */
export async function register(options: RegistrationOptions, signal: AbortSignal): Promise<void> {
  const { connection, kube, clock, log, meta, podId } = options
  for (let failures = 0; !signal.aborted; ) {
    try {
      const agentMeta = { ...meta, kubernetesVersion: await versionOf(kube, signal) }
      const request = create(RegisterRequestSchema, { agentMeta, podId })
      await connection.unary(AgentRegistrar.method.register, request, { signal })
      failures = 0
    } catch (thrown) {
      if (signal.aborted) return
      const failure = Failure.from(thrown)
      if (failure.reason !== UNIMPLEMENTED) {
        log.warn('not registered at kas', { error: failure })
        await pause(clock, waitOf(BACKOFF, failures++), signal)
        continue
      }
    }
    // All agents start again with their cluster: then they should not all come at the same moment.
    await pause(clock, INTERVAL * (0.95 + Math.random() * 0.05), signal)
  }
}

const VERSION = { major: '', minor: '', gitVersion: '', platform: '' }

/** Of use for people only: an API server that is away must not keep the pod from being known. */
async function versionOf(kube: Pick<Kube, 'read'>, signal: AbortSignal) {
  try {
    const {
      major = '',
      minor = '',
      gitVersion = '',
      platform = '',
    } = await kube.read<Partial<typeof VERSION>>('/version', { signal })
    return { major, minor, gitVersion, platform }
  } catch {
    return VERSION
  }
}
