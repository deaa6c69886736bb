import type { Kube } from '../../adapters/kube/index.ts'
import { conditionOf, type Kind, type KubeObject, nameOf, refOf } from '../../api/index.ts'
import { Failure, seconds } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { conditionsOf, faultOf } from '../fault.ts'
import { follow } from '../follow.ts'
import type { WaitOptions } from '../gitops/deployment.ts'
import { wrap } from '../output.ts'
import { reportTo } from '../report.ts'
import type { Shell } from '../shell.ts'

interface Waiting<T extends KubeObject> {
  shell: Shell
  kube: Kube
  kind: Kind<T>
  /** Nothing where nothing was made. */
  made: T | undefined
}

/** Follows what was made until it is Ready or will not become so by itself, where that was asked for. */
export async function waitUntilReady<T extends KubeObject>(
  { shell, kube, kind, made }: Waiting<T>,
  { wait, timeout }: WaitOptions,
): Promise<ExitCode> {
  if (!wait || !made) return exitCodes.ok
  const report = reportTo(shell)
  let last = ''
  const verdict = await follow(
    { kube, kind, ref: refOf(made), within: seconds(timeout), what: 'Ready', where: () => last, signal: shell.signal },
    (now) => {
      if (!now) throw new Failure('not-found', `${nameOf(made)} was deleted.`)
      const seen = verdictOf(now)
      if (seen.message !== last && seen.word === 'under-way') report.line(seen.message)
      last = seen.message
      return seen.word === 'under-way' ? undefined : seen
    },
  )
  if (verdict.word === 'ready') {
    shell.print(`${nameOf(made)} is Ready${verdict.message && `: ${verdict.message}`}.`)
    return exitCodes.ok
  }
  for (const line of wrap(`berth: ${nameOf(made)} is not Ready. ${verdict.message}`)) report.line(line)
  return exitCodes.failed
}

/** Reasons that nobody but a person changes, though nothing is wrong: to wait on would be to wait in vain. */
const STANDSTILL = ['WaitingForFirstConsumer']

interface Verdict {
  word: 'ready' | 'failed' | 'under-way'
  message: string
}

/** Pure. What the conditions say to somebody who waits. */
export function verdictOf(object: KubeObject): Verdict {
  const known = { ...object }
  const ready = conditionOf(conditionsOf(known), 'Ready')
  if (ready?.status === 'True') return { word: 'ready', message: ready.message }
  const fault = faultOf(known)
  if (fault) return { word: 'failed', message: [`${fault.reason}: ${fault.message}`, fault.remedy].filter(Boolean).join(' ') }
  const message = ready ? `${ready.reason}: ${ready.message}` : 'nobody has looked at it yet'
  return { word: STANDSTILL.includes(ready?.reason ?? '') ? 'failed' : 'under-way', message }
}
