import { type Call, offer, type Service } from '../../adapters/grpc/index.ts'
import { GitlabAccess, type HttpRequest, type HttpResponse, nothingThere } from '../../rpc/index.ts'
import type { AgentGate } from '../ports.ts'

export const createModuleRequestService = (gate: AgentGate): Service =>
  offer(GitlabAccess, { makeRequest: (requests, call) => answer(gate, requests, call) })

/** The request is read to its end, as its sender expects. */
async function* answer(gate: AgentGate, requests: AsyncIterable<HttpRequest>, call: Call): AsyncGenerator<HttpResponse> {
  gate.admit(call.metadata('authorization')).close()
  for await (const _ of requests);
  yield* nothingThere()
}
