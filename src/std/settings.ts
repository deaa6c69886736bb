import { Failure } from './failure.ts'
import type { LogLevel } from './log.ts'

/** What is wrong with a setting, and how it is written: every program says it alike. */
export const wrongSetting = (flag: string, given: string, remedy: string): Failure =>
  new Failure('invalid', `${flag} is "${given}"`, { remedy })

export interface SettingSources {
  flags: Readonly<Record<string, string | boolean | undefined>>
  env: Readonly<Record<string, string | undefined>>
}

/** Flags win over variables, variables over defaults. Each reader throws `invalid` with the flag, the value and a remedy. */
export function readSettings({ flags, env }: SettingSources) {
  const text = (key: string, variable?: string): string | undefined => {
    const given = flags[key]
    return typeof given === 'string' ? given : (variable && env[variable]) || undefined
  }
  return {
    text,
    isOn(key: string, variable: string): boolean {
      const given = flags[key] === true ? 'true' : env[variable]
      if (given === undefined || given === '' || given === 'false') return false
      if (given === 'true') return true
      throw wrongSetting(variable, given, 'Write true or false.')
    },
    address(key: string, variable: string, fallback: string): string {
      const given = text(key, variable) ?? fallback
      if (/^\S+:\d{1,5}$/.test(given)) return given
      throw wrongSetting(flagOf(key), given, `Write it like ${flagOf(key)} ${fallback}.`)
    },
    count(key: string, variable: string, { otherwise, least = 1, most = Number.MAX_SAFE_INTEGER }: Bounds): number {
      const given = text(key, variable) ?? String(otherwise)
      const number = Number(given)
      if (Number.isSafeInteger(number) && number >= least && number <= most) return number
      const top = most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''
      throw wrongSetting(flagOf(key), given, `Write a whole number from ${least}${top}.`)
    },
    list: (key: string, variable: string, fallback = ''): string[] =>
      (text(key, variable) ?? fallback)
        .split(',')
        .map((word) => word.trim())
        .filter((word) => word !== ''),
    logLevel(): LogLevel {
      const given = text('logLevel', 'BERTH_LOG_LEVEL') ?? 'info'
      const found = LEVELS.find((name) => name === given)
      if (found) return found
      throw wrongSetting('--log-level', given, `Use one of ${LEVELS.join(', ')}.`)
    },
  }
}

interface Bounds {
  otherwise: number
  least?: number
  most?: number
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']

const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
