/** The help of every verb of `berth`, as the program prints it. */
import { PassThrough } from 'node:stream'
import { Command } from 'commander'
import { run } from '../../src/cli/run.ts'
import { plain, type Shell } from '../../src/cli/shell.ts'
import { verbs } from '../../src/cli/verbs.ts'

/** A machine that has nothing: no variable of whoever generates the page changes a default in it. */
const shell: Shell = {
  print: () => undefined,
  say: () => undefined,
  readInput: async () => '',
  streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
  ask: async () => undefined,
  handOver: async () => 0,
  env: {},
  cwd: '/',
  home: new URL('../..', import.meta.url).pathname,
  berth: ['berth'],
  signal: new AbortController().signal,
  paint: plain,
  lively: false,
}

export async function helpOfVerbs(): Promise<string> {
  const sections = [await section([])]
  for (const { name, load } of verbs) {
    const command = new Command(name)
    const { verb } = await load()
    verb.define(command, shell, () => async () => undefined, verbs)
    for (const words of wordsOf(command)) sections.push(await section(words))
  }
  return sections.join('\n\n')
}

/** A verb, and the verbs below it. */
const wordsOf = (command: Command): string[][] => [
  [command.name()],
  ...command.commands
    .filter((each) => each.name() !== 'help')
    .flatMap(wordsOf)
    .map((words) => [command.name(), ...words]),
]

async function section(words: string[]): Promise<string> {
  const said: string[] = []
  await run([...words, '--help'], { ...shell, print: (text) => said.push(text) })
  return `## ${['berth', ...words].join(' ')}\n\n\`\`\`text\n${said.join('\n').trim()}\n\`\`\``
}
