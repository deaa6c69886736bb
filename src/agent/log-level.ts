import { LogLevelCF } from '../rpc/index.ts'
import type { Log, LogLevel } from '../std/index.ts'
import type { ConfigurationFollower } from './ports/configuration-follower.ts'

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']
const LEVELS: Readonly<Record<LogLevelCF, LogLevel>> = {
  [LogLevelCF.info]: 'info',
  [LogLevelCF.debug]: 'debug',
  [LogLevelCF.warn]: 'warn',
  [LogLevelCF.error]: 'error',
}

/**
 * A log whose level the configuration changes. `sink` writes every line that it is given; `first` holds until a configuration names a
 * level. The key `grpc_level` has no effect, for the gRPC library here logs nothing.
 */
export function createLeveledLog(sink: Log, first: LogLevel): ConfigurationFollower & { readonly log: Log } {
  let current = first
  return {
    log: leveled(sink, () => current),
    prepare({ observability }) {
      const level = observability?.logging ? (LEVELS[observability.logging.level] ?? first) : first
      return () => {
        current = level
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
