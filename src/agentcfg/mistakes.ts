import { beginningOf } from '../std/index.ts'

/** One thing that is wrong with a configuration file, fit to be shown to who wrote it. */
export interface ConfigurationMistake {
  /** Says what is wrong and how to mend it: `gitops.manifest_projects[0].prune is "yes"; write true or false`. */
  message: string
  /** Both from 1. */
  line: number
  column: number
}

export interface MistakePlace {
  readonly line: number
  readonly column: number
}

const MOST = 50
const LONGEST = 500

export type MistakeList = ReturnType<typeof createMistakeList>

/** Collects mistakes. A file of nothing but mistakes must not become an answer of megabytes. */
export function createMistakeList() {
  const found: ConfigurationMistake[] = []
  return {
    add({ line, column }: MistakePlace, message: string): void {
      const text = beginningOf(message, LONGEST)
      // The same mistake by way of many aliases is one.
      const isKnown = found.some((one) => one.line === line && one.column === column && one.message === text)
      if (found.length < MOST && !isKnown) found.push({ message: text, line, column })
    },
    /** In the order of the text. */
    all: () => found.sort((a, b) => a.line - b.line || a.column - b.column),
  }
}

/** A value of the file as it can be shown: short, and on one line. */
export function shown(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value)
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 56)}…"` : text
}
