import { silentTracer } from '../../std/index.ts'
import type { OpenTracer, TracerSettings } from './port.ts'

/** `endpoint`: where OTLP is taken over HTTP, such as http://collector:4318. Without it nothing is told, and nothing of this is loaded. */
export async function openTracer(endpoint: string | undefined, settings: TracerSettings): Promise<OpenTracer> {
  if (endpoint === undefined) return { ...silentTracer, stop: async () => undefined }
  const { createOtlpTracer } = await import('./otlp.ts')
  return createOtlpTracer(endpoint, settings)
}
