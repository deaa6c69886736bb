import { request } from 'node:https'
import { Failure, pause, seconds, systemClock } from '../../std/index.ts'

const WITHIN = seconds(120)

/** Asks again and again; `ask` throws what makes further asking useless. */
export async function waitUntil(
  ask: () => Promise<boolean> | boolean,
  { what, signal }: { what: string; signal?: AbortSignal | undefined },
): Promise<void> {
  const deadline = systemClock.now() + WITHIN
  while (!(await ask())) {
    if (signal?.aborted) throw new Failure('cancelled', `stopped while waiting until ${what}`)
    if (systemClock.now() > deadline) throw new Failure('timeout', `waited ${WITHIN / 1000} s in vain until ${what}`)
    await pause(systemClock, 50, signal)
  }
}

/** Asks the API server whether it is ready, over a connection whose other end is checked. */
export function isReady(server: string, authority: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` }
    const call = request(`${server}/readyz`, { ca: authority, headers, timeout: 2000, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    call.on('error', () => resolve(false))
    call.on('timeout', () => call.destroy())
    call.end()
  })
}
