import type { Log, Tracer } from '../../std/index.ts'

export interface OpenTracer extends Tracer {
  /** Sends what has not been sent, for 3 s at most. */
  stop(): Promise<void>
}

export interface TracerSettings {
  /** The name of the program, such as berth-kas. */
  service: string
  version: string | undefined
  /** Name of the pod, where there is one. */
  instance?: string | undefined
  log: Log
}
