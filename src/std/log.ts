import { type Logger, pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFields = Record<string, unknown>

/** Structured log. Fields are named things; the message is a constant sentence, so that lines can be counted. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A log whose every line carries these fields too. */
  with(fields: LogFields): Log
}

/** JSON lines to `write` (a stream), one object a line. */
export function createLog(level: LogLevel, write: { write(line: string): unknown }): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' }
  return wrap(pino(options, { write: (line) => void write.write(line) }))
}

function wrap(logger: Logger): Log {
  return {
    debug: (message, fields = {}) => logger.debug(printable(fields), message),
    info: (message, fields = {}) => logger.info(printable(fields), message),
    warn: (message, fields = {}) => logger.warn(printable(fields), message),
    error: (message, fields = {}) => logger.error(printable(fields), message),
    with: (fields) => wrap(logger.child(printable(fields))),
  }
}

/** Errors would print as `{}` under a key that is not pino's own. */
function printable(fields: LogFields): LogFields {
  const entries = Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? chain(value) : value])
  return Object.fromEntries(entries)
}

function chain(error: Error): string {
  const cause = error.cause instanceof Error ? ` <- ${chain(error.cause)}` : ''
  return `${error.message}${cause}`
}

/** For tests and for code that was given no log. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
}
