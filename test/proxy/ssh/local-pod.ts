import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Place } from '../../../src/proxy/ssh/inside.ts'

/** A place whose programs run here, as the exec API would run them in a pod: fast, and for what is the same anywhere. */
export const localPlace = (folder: string): Place => ({
  kube: { socket: async (path: string) => localExec(path, folder) } as unknown as Place['kube'], // as: nothing else of it is asked for
  namespace: 'here',
  pod: 'here',
  container: 'here',
})

const CLOSE_INPUT = 255

function localExec(path: string, cwd: string) {
  const [program = '', ...words] = new URL(path, 'https://here').searchParams.getAll('command')
  const child = spawn(program, words, { cwd, env: { PATH: process.env.PATH, PROJECT_SOURCE: cwd } })
  const messages = new EventTarget()
  const queue: Buffer[] = []
  let isOver = false
  const add = (channel: number, bytes: Buffer | string) => {
    queue.push(Buffer.concat([Buffer.of(channel), Buffer.from(bytes)]))
    messages.dispatchEvent(new Event('more'))
  }
  child.stdout.on('data', (bytes: Buffer) => add(1, bytes))
  child.stderr.on('data', (bytes: Buffer) => add(2, bytes))
  child.stdin.on('error', () => undefined)
  child.once('close', (code) => {
    const failed = `{ "status": "Failure", "details": { "causes": [{ "reason": "ExitCode", "message": "${code}" }] } }`
    add(3, code === 0 ? '{ "status": "Success" }' : failed)
    isOver = true
    messages.dispatchEvent(new Event('more'))
  })
  return {
    messages: (async function* () {
      for (;;) {
        const next = queue.shift()
        if (next) yield next
        else if (isOver) return
        else await once(messages, 'more')
      }
    })(),
    async send(message: Buffer) {
      if (message[0] === CLOSE_INPUT) child.stdin.end()
      else await new Promise<void>((resolve) => child.stdin.write(message.subarray(1), () => resolve()))
    },
    close: () => void child.kill(),
  }
}
