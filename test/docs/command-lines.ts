import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { ok } from 'uvu/assert'
import { plain } from '../../src/cli/shell.ts'
import { verbs } from '../../src/cli/verbs.ts'
import { blocksOf } from './parts.ts'

const shell = {
  print: () => undefined,
  say: () => undefined,
  readInput: async () => '',
  streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
  ask: async () => undefined,
  handOver: async () => 0,
  env: {},
  cwd: '/',
  home: '/',
  berth: ['berth'] as const,
  signal: new AbortController().signal,
  paint: plain,
  lively: false,
}

/** Every command line of Berth in a page, without its comment and what it is piped into. */
const commandsIn = (text: string): string[] =>
  [
    ...blocksOf(text, 'sh').flatMap((block) => block.split('\n')),
    ...[...text.matchAll(/`(berth [^`]+)`/g)].map(([, all = '']) => all),
  ]
    .map((line) => line.replace(/\s+(#|[|>] ).*$/, '').trim())
    .filter((line) => line.startsWith('berth '))

/** Parses every command line of a page as the program would, and counts them; none is carried out. */
export async function understood(text: string): Promise<number> {
  const commands = commandsIn(text)
  for (const line of commands) {
    const [, name = '', ...words] = line.split(/\s+/)
    const entry = verbs.find((each) => each.name === name)
    ok(entry, line)
    const command = new Command(name).exitOverride().configureOutput({ writeErr: () => undefined })
    let reached = false
    const finish = () => async () => {
      reached = true
    }
    const { verb } = (await entry?.load()) ?? {}
    verb?.define(command, shell, finish, verbs)
    // In running text the name of a deployment may be left out.
    const isBare = words.length === 0 && command.registeredArguments.length > 0
    await command.parseAsync(isBare ? ['shop'] : words, { from: 'user' })
    ok(reached, line)
  }
  return commands.length
}
