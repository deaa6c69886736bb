import { pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type Fields = Record<string, unknown>

/** Structured log. Fields are named things; the message is a constant sentence, so that lines can be counted. */
export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
  /** A log whose every line carries these fields too. */
  with(fields: Fields): Log
}

/** JSON lines to `write` (a stream), one object a line. */
export function createLog(level: LogLevel, write: { write(line: string): unknown }): Log {
  const root = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: 'message' },
    { write: (line) => void write.write(line) },
  )
  return wrap(root)
}

interface Sink {
  debug(fields: Fields, message: string): void
  info(fields: Fields, message: string): void
  warn(fields: Fields, message: string): void
  error(fields: Fields, message: string): void
  child(fields: Fields): Sink
}

function wrap(sink: Sink): Log {
  return {
    debug: (message, fields = {}) => sink.debug(printable(fields), message),
    info: (message, fields = {}) => sink.info(printable(fields), message),
    warn: (message, fields = {}) => sink.warn(printable(fields), message),
    error: (message, fields = {}) => sink.error(printable(fields), message),
    with: (fields) => wrap(sink.child(printable(fields))),
  }
}

/** Errors would print as `{}` under a key that is not pino's own. */
function printable(fields: Fields): Fields {
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
