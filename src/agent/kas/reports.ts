import { create } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { type GrpcConnection, UNIMPLEMENTED } from '../../adapters/grpc/index.ts'
import { AgentReports, ProjectReportSchema, ReportRequestSchema } from '../../rpc/index.ts'
import { type Backoff, beginningOf, type Clock, Failure, type Log, minutes, pause, seconds, waitOf } from '../../std/index.ts'
import type { ManifestProjectStatus, Reports } from '../ports/reports.ts'

interface ReporterOptions {
  connection: GrpcConnection
  clock: Clock
  log: Log
  podName: string
}

const AT_MOST_EVERY = seconds(1)
const BACKOFF: Backoff = { base: seconds(1), max: minutes(1) }
/** kas of GitLab has no such method; it may be replaced by one of ours while we run. */
const ASK_AGAIN = minutes(10)
/** Of one text: an error may quote what somebody wrote. Characters. */
const LONGEST = 1000

/** `run` reports whatever changes until the signal aborts: as long as this pod leads. */
export function createReporter({ connection, clock, log, podName }: ReporterOptions): Reports & {
  run(signal: AbortSignal): Promise<void>
} {
  const projects = new Map<string, ManifestProjectStatus>()
  const state = { commitId: '', error: '', edition: 0, wake: new AbortController() }
  const changed = () => {
    state.edition++
    state.wake.abort()
  }
  const send = (signal: AbortSignal) => {
    const request = create(ReportRequestSchema, {
      podName,
      configurationCommitId: state.commitId,
      configurationError: beginningOf(state.error, LONGEST),
      projects: [...projects.values()].map(reportOf),
    })
    return connection.unary(AgentReports.method.report, request, { signal })
  }
  return {
    configuration(commitId, error) {
      if (state.commitId === commitId && state.error === error) return
      Object.assign(state, { commitId, error })
      changed()
    },
    project(status) {
      if (JSON.stringify(projects.get(status.id)) === JSON.stringify(status)) return
      projects.set(status.id, status)
      changed()
    },
    forget(id) {
      if (projects.delete(id)) changed()
    },
    again: changed,
    async run(signal) {
      let told = -1
      let failures = 0
      while (!signal.aborted) {
        state.wake = new AbortController()
        if (told === state.edition) await pause(clock, minutes(60), AbortSignal.any([signal, state.wake.signal]))
        if (signal.aborted) return
        const { edition } = state
        try {
          await send(signal)
          told = edition
          failures = 0
          await pause(clock, AT_MOST_EVERY, signal)
        } catch (thrown) {
          const failure = Failure.from(thrown)
          const isForeign = failure.reason === UNIMPLEMENTED
          if (!isForeign && !signal.aborted) log.info('not reported to kas', { error: failure })
          await pause(clock, isForeign ? ASK_AGAIN : waitOf(BACKOFF, failures++), signal)
        }
      }
    },
  }
}

const reportOf = ({ syncedAt, message, ...status }: ManifestProjectStatus) =>
  create(ProjectReportSchema, {
    ...status,
    message: beginningOf(message, LONGEST),
    ...(syncedAt !== undefined && { syncedAt: timestampFromMs(syncedAt) }),
  })
