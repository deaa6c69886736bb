/** A piece of work on one commit. Times are milliseconds since 1970. */
export interface Span {
  name: string
  began: number
  ended: number
  /** Named as OpenTelemetry names things, and with `berth.` where it has no name. */
  attributes?: Readonly<Record<string, string | number>>
  /** Why it failed: a reason as conditions have them, and no message, which may quote what is nobody else's business. */
  error?: string | undefined
  /** Its parts. */
  steps?: readonly Span[]
}

/**
 * Tells what is done with commits: all work of all programs on one commit is one trace, whose id follows from the commit's. So nothing has to be
 * handed on from program to program, and whoever knows the commit finds its trace.
 */
export interface Tracer {
  /** The first of a commit's work: everything else stands below it. A program tells it once for each commit. */
  recordRoot(commitId: string, span: Span): void
  record(commitId: string, span: Span): void
}

export const silentTracer: Tracer = { recordRoot: () => undefined, record: () => undefined }

/** 32 hexadecimal digits: the first of the commit's id. */
export const traceIdOf = (commitId: string): string => commitId.slice(0, 32)

/** For a line of the log that is about a commit. */
export const logFieldsOf = (commitId: string) => ({ commit: commitId, trace_id: traceIdOf(commitId) })
