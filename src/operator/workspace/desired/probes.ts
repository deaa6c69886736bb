import type { V1Probe } from '@kubernetes/client-node'
import type { Container } from '../../../devfile/index.ts'
import { editorContainerOf } from './editor.ts'
import { editorPortOf } from './hosts.ts'
import type { WorkspacePlan } from './plan.ts'

/** On an endpoint: `true` or `tcp` asks whether its port is open, `http` for its path. */
const PROBE = 'berth.dev/probe'
/** Somebody may be waiting before the browser, and at first no server is there yet: each look that comes late is time of theirs. */
const EVERY_SECONDS = 1

/**
 * A server that has to answer before the workspace is ready. It is asked until it answers once: later silence is for the people who work
 * there, whom nobody should throw out because their server is down. Endpoints are not asked unless they say so, for most
 * servers are started by hand.
 */
export function probeOf(plan: WorkspacePlan, container: Container, limit: number): V1Probe | undefined {
  const how = { periodSeconds: EVERY_SECONDS, failureThreshold: Math.ceil(limit / EVERY_SECONDS), timeoutSeconds: 3 }
  const asked = container.endpoints.find(({ attributes }) => Boolean(attributes[PROBE]))
  if (asked?.attributes[PROBE] === 'http') {
    const isSecure = asked.protocol === 'https' || asked.protocol === 'wss'
    const path = asked.path.startsWith('/') ? asked.path : `/${asked.path}`
    return { httpGet: { path, port: asked.targetPort, scheme: isSecure ? 'HTTPS' : 'HTTP' }, ...how }
  }
  const isEditor = editorContainerOf(plan.devfile)?.name === container.name
  const port = asked?.targetPort ?? (isEditor ? editorPortOf(plan.settings) : undefined)
  return port === undefined ? undefined : { tcpSocket: { port }, ...how }
}
