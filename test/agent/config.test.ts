import * as assert from 'uvu/assert'
import { parseConfig } from '../../src/agent/index.ts'
import { Failure, type Flags } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'

const ENV = { AGENTK_TOKEN: 'canary-token', POD_NAME: 'pod', POD_NAMESPACE: 'home' }
const mistake = (flags: Flags, env: Record<string, string> = ENV): string => {
  try {
    parseConfig(flags, env)
  } catch (thrown) {
    return Failure.from(thrown).message
  }
  return ''
}

describe("the agent's settings", (it) => {
  it('are those of agentk where they mean the same', () => {
    const config = parseConfig({ kasAddress: 'grpcs://kas', kasHeader: ['X-Key: a', 'x-key: b'] }, ENV)
    assert.is(config.kasAddress, 'grpcs://kas:443')
    assert.equal(config.kasHeaders, { 'x-key': ['a', 'b'] })
    assert.is(config.podNamespace, 'home')
    assert.not(JSON.stringify(config).includes('canary-token'))
  })

  const MISTAKES: { flags: Flags; env?: Record<string, string>; message: RegExp; why: string }[] = [
    { flags: {}, message: /--kas-address is missing/, why: 'there is nobody to ask' },
    { flags: { kasAddress: 'http://kas' }, message: /--kas-address is "http/, why: 'it is no scheme of gRPC' },
    { flags: { kasAddress: 'grpc://kas', tokenFile: 'f' }, message: /and a token in the environment/, why: 'one must count' },
    { flags: { kasAddress: 'grpc://kas' }, env: { POD_NAME: 'a', POD_NAMESPACE: 'b' }, message: /no token/, why: 'nobody it is' },
    { flags: { kasAddress: 'grpc://kas' }, env: { AGENTK_TOKEN: 'a' }, message: /--namespace is missing/, why: 'the Lease' },
    {
      flags: { kasAddress: 'grpc://kas', kasHeader: ['secret'] },
      message: /^--kas-header is no header$/,
      why: 'it may be secret',
    },
  ]
  for (const { flags, env, message, why } of MISTAKES)
    it(`are refused: ${message.source}`, () => assert.match(mistake(flags, env), message, why))
})
