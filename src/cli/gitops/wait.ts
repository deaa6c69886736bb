import { type GitOpsDeployment, GitOpsDeployments, nameOf, refOf } from '../../api/index.ts'
import { Failure } from '../../std/index.ts'
import { type ExitCode, exitCodes } from '../exit-codes.ts'
import { follow } from '../follow.ts'
import { wrap } from '../output.ts'
import { reportTo } from '../report.ts'
import { commandFor, type DeploymentContext } from './deployment.ts'
import { type ReadyVerdict, verdictOf } from './verdict.ts'

interface Expectation {
  /** Milliseconds. */
  within: number
  /** From when on the status counts. */
  answered: (now: GitOpsDeployment) => boolean
  /** The commit that a run has applied. */
  applied?: string | undefined
}

/** Follows the deployment, telling how it goes, until it is Ready or will not become so by itself. */
export async function waitUntilReady(
  { shell, kube, deployment, forProgram = false }: DeploymentContext,
  { within, answered, applied }: Expectation,
): Promise<ExitCode> {
  const report = reportTo(shell)
  let last = 'it was not looked at yet'
  let drawn = false
  const ending = await follow(
    { kube, kind: GitOpsDeployments, ref: refOf(deployment), within, what: 'Ready', where: () => last, signal: shell.signal },
    (now): ReadyVerdict | undefined => {
      if (!now) throw new Failure('not-found', `${nameOf(deployment)} was deleted.`)
      const verdict = verdictOf(now, applied)
      // Its status from before it has answered is old, but where it is stuck for good it says no more than that.
      const isOld = !answered(now)
      if (isOld && verdict.word !== 'failed') return undefined
      // A final status is told at the end, and once.
      if (verdict.word === 'under-way' && verdict.message !== last) {
        tell(report, now, verdict.message)
        drawn = true
      }
      last = verdict.message
      return isOld || verdict.word === 'under-way' ? undefined : verdict
    },
  )
  if (ending.word === 'ready') {
    // A bar that was begun is drawn to its end.
    if (drawn && shell.lively) report.progress({ what: 'Ready', done: 1, total: 1 })
    shell.print(`${nameOf(deployment)} is Ready. ${ending.message}`)
    return exitCodes.ok
  }
  for (const line of wrap(`berth: ${nameOf(deployment)} is not Ready. ${ending.message}`)) report.line(line)
  report.line(`Each object: ${commandFor('tree', deployment)}`)
  if (ending.asks && forProgram)
    report.line('Deletions are held back. Only a person may confirm them: tell the person, and stop here.')
  else if (ending.asks) report.line(`Let the deletions happen: ${commandFor('sync', deployment)} --confirm-prune`)
  return exitCodes.failed
}

function tell(report: ReturnType<typeof reportTo>, { status }: GitOpsDeployment, message: string): void {
  const all = status?.resources ?? []
  const done = all.filter((one) => one.status === 'Synced' && one.health?.status === 'Healthy').length
  if (all.length > 0) report.progress({ what: message, done: Math.min(done, all.length - 1), total: all.length })
  else report.line(message)
}
