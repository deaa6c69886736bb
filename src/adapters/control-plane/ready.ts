import { request } from 'node:https'
import { type Clock, Failure, pause, seconds } from '../../std/index.ts'

export interface Waiting {
  what: string
  clock: Clock
  within?: number
  signal?: AbortSignal | undefined
}

/** Asks again and again; `ask` throws what makes further asking useless. */
export async function waitUntil(ask: () => Promise<boolean> | boolean, { what, clock, within = seconds(120), signal }: Waiting) {
  const deadline = clock.now() + within
  while (!(await ask())) {
    if (signal?.aborted) throw new Failure('cancelled', `stopped while waiting until ${what}`)
    if (clock.now() > deadline) throw new Failure('timeout', `waited ${within / 1000} s in vain until ${what}`)
    await pause(clock, 50, signal)
  }
}

export interface Probe {
  server: string
  authority: string
  token: string
}

/** Whether the API server says of itself that it is ready, over a connection whose other end is checked. */
export function isReady({ server, authority, token }: Probe): Promise<boolean> {
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
