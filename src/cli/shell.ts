import type { Readable, Writable } from 'node:stream'
import { styleText } from 'node:util'

/** A command sees no more of its process than this. Only main.ts makes one; tests make their own. */
export interface Shell {
  /** Data, for people and pipes: standard output. */
  print(text: string): void
  /** Progress and remarks: standard error. */
  say(text: string): void
  /** All of standard input. */
  readInput(): Promise<string>
  /** Standard input and output as they are, for a protocol that another program speaks with us over them. */
  streams(): { input: Readable; output: Writable }
  /** One line from the person at the terminal; nothing where there is none. */
  ask(question: string): Promise<string | undefined>
  /** Runs a program that has the person's terminal until it ends; gives its exit code. */
  handOver(program: string, parameters: readonly string[]): Promise<number>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder that the command was given in. */
  readonly cwd: string
  /** The folder of Berth itself: crds/, deploy/, examples/. */
  readonly home: string
  /** The program and arguments that start Berth again, for programs that run beside this one. */
  readonly berth: readonly [string, ...string[]]
  /** Aborted by the first SIGINT or SIGTERM; the second one ends the process at once. */
  readonly signal: AbortSignal
  readonly paint: Paint
  /** Standard error is a terminal that can redraw a line. */
  readonly lively: boolean
}

/** The reason of a signal that aborted because our output cannot be written any more: everything is tidied up. */
export const OUTPUT_CLOSED = 'the output is closed'

/** A question that ends with `[y/N]`: nothing but a yes is one. */
export const isYes = (answer: string | undefined): boolean => answer !== undefined && /^y(?:es)?$/i.test(answer.trim())

export type Paint = (colour: 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim', text: string) => string

export const plain: Paint = (_, text) => text

export const coloured: Paint = (colour, text) => styleText(colour, text, { validateStream: false })

/** Colours where a person looks, unless they said no (no-color.org) or said yes (FORCE_COLOR). */
export function paintFor(stream: { isTTY?: boolean | undefined }, env: Shell['env']): Paint {
  if (env.NO_COLOR) return plain
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return coloured
  return stream.isTTY && env.TERM !== 'dumb' ? coloured : plain
}
