import { randomBytes } from 'node:crypto'
import { parseConfig, start } from '../../src/agent/index.ts'
import { seconds } from '../../src/std/index.ts'

export interface RunningAgent {
  podName: string
  /** Of the operations listener. */
  operations: string
  /** Settles when it has ended, by itself too. */
  ended: Promise<void>
  /** Everything it has logged. */
  log(): string
  stop(): Promise<void>
}

const QUICK = { base: seconds(0.2), max: seconds(1) }

/** The agent as it is, with less patience. */
export async function runAgent(given: {
  kas: string
  kubeconfig: string
  /** Of the pod. */
  namespace: string
  token?: string
  wait?: boolean
  kubectl?: string
  helm?: string
  podName?: string
  caCertFile?: string
  lease?: { duration: number; renewWithin: number; retry: number }
}): Promise<RunningAgent> {
  const { kas, kubeconfig, namespace, token = 'secret-of-the-agent', kubectl = 'kubectl', helm = 'helm' } = given
  const podName = given.podName ?? `agent-${randomBytes(4).toString('hex')}`
  const own = {
    podName,
    operations: '127.0.0.1:0',
    logLevel: 'debug',
    ...(given.caCertFile && { caCertFile: given.caCertFile }),
    ...(given.wait && { wait: true }),
  }
  const flags = { kasAddress: kas, kubeconfig, namespace, kubectl, helm, ...own }
  const lines: string[] = []
  const ending = new AbortController()
  const up = Promise.withResolvers<string>()
  const done = start(parseConfig(flags, { AGENTK_TOKEN: token }), ending.signal, {
    log: { write: (line) => lines.push(line) },
    up: up.resolve,
    paces: { source: QUICK, apply: QUICK, ...(given.lease && { lease: given.lease }) },
  })
  done.catch(up.reject)
  return {
    podName,
    operations: await up.promise,
    ended: done,
    log: () => lines.join(''),
    async stop() {
      ending.abort()
      await done
    },
  }
}
