import { spawn } from 'node:child_process'

interface AtTerminal {
  env: Record<string, string | undefined>
  /** What is typed once this is on the screen. */
  when: string
  keys: string
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** Runs a program at a terminal of its own (`script`, of util-linux): how it ended, and what was on the screen. */
export function runAtTerminal(
  words: readonly string[],
  { env, when, keys }: AtTerminal,
): Promise<{ code: number | null; screen: string }> {
  const command = words.map(quoted).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  let isTyped = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
    if (isTyped || !screen.includes(when)) return
    isTyped = true
    child.stdin.write(keys)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, screen }))
  })
}
