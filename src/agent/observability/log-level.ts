import { LogLevelCF } from '../../rpc/index.ts'
import type { Log, LogLevel } from '../../std/index.ts'
import type { Follower } from '../ports.ts'

/** A log whose level can be changed, and the part of the agent that does so. */
export interface LeveledLog extends Follower {
  readonly log: Log
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']
const LEVELS: Readonly<Record<LogLevelCF, LogLevel>> = {
  [LogLevelCF.info]: 'info',
  [LogLevelCF.debug]: 'debug',
  [LogLevelCF.warn]: 'warn',
  [LogLevelCF.error]: 'error',
}

/** `sink` writes every line that it is given. `first` holds until a configuration names a level. */
export function createLeveledLog(sink: Log, first: LogLevel): LeveledLog {
  const state = { level: first }
  return {
    log: leveled(sink, () => state.level),
    prepare({ observability }) {
      const level = observability?.logging ? (LEVELS[observability.logging.level] ?? first) : first
      return () => {
        state.level = level
      }
    },
  }
}

function leveled(sink: Log, level: () => LogLevel): Log {
  const isLoud = (wanted: LogLevel) => ORDER.indexOf(wanted) >= ORDER.indexOf(level())
  return {
    debug: (message, fields) => isLoud('debug') && sink.debug(message, fields),
    info: (message, fields) => isLoud('info') && sink.info(message, fields),
    warn: (message, fields) => isLoud('warn') && sink.warn(message, fields),
    error: (message, fields) => isLoud('error') && sink.error(message, fields),
    with: (fields) => leveled(sink.with(fields), level),
  }
}
