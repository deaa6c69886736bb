import { create } from '@bufbuild/protobuf'
import { type Call, type GrpcService, offer } from '../../adapters/grpc/index.ts'
import { GitlabAccess, type HttpRequest, type HttpResponse } from '../../rpc/index.ts'
import type { AgentGate } from '../ports/ports.ts'

const RESPONSE = GitlabAccess.method.makeRequest.output
const NOT_FOUND = { statusCode: 404, status: '404 Not Found' }

export const createModuleRequestService = (gate: AgentGate): GrpcService =>
  offer(GitlabAccess, { makeRequest: (requests, call) => answer(gate, requests, call) })

/** The request is read to its end, as its sender expects; but not longer than he may be here. */
async function* answer(gate: AgentGate, requests: AsyncIterable<HttpRequest>, call: Call): AsyncGenerator<HttpResponse> {
  const pass = gate.admit(call.metadata('authorization'))
  const revoked = Promise.withResolvers<never>()
  const end = () => revoked.reject(pass.ended.reason)
  pass.ended.addEventListener('abort', end, { once: true })
  if (pass.ended.aborted) end()
  try {
    await Promise.race([drained(requests), revoked.promise])
    yield create(RESPONSE, { message: { case: 'header', value: { response: NOT_FOUND } } })
    yield create(RESPONSE, { message: { case: 'trailer', value: {} } })
  } finally {
    pass.close()
  }
}

async function drained(requests: AsyncIterable<HttpRequest>): Promise<void> {
  for await (const _ of requests);
}
