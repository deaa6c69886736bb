import { equal, is, match, not } from 'uvu/assert'
import { parseConfig } from '../../src/kas/index.ts'
import { isFailure, minutes, seconds } from '../../src/std/index.ts'
import { describe } from '../support/suite.ts'
import { defaultLimits } from './object-stream/default-limits.ts'

const MIB = 2 ** 20
const NAMED = { peers: 'grpc://kas:8155', privateApiSecret: 'secret' }

describe('settings of kas', (it) => {
  it('have the limits of the object stream as their defaults, and fetch from anywhere that is not forbidden', () => {
    const { maxFiles, maxFileSize, maxTotalSize, maxPaths, addresses, hosts } = parseConfig({}, {})
    equal({ files: maxFiles, fileBytes: maxFileSize, totalBytes: maxTotalSize, paths: maxPaths }, defaultLimits)
    equal(addresses, ['public', 'private', 'loopback'])
    is(hosts, undefined)
  })

  it('are read from flags before variables', () => {
    const env = { BERTH_GIT_ADDRESSES: 'public', BERTH_GIT_HOSTS: 'a.test', BERTH_MAX_FILE_SIZE: '7', BERTH_MAX_DATA_SIZE: '9' }
    const config = parseConfig({ hosts: 'Git.test, *.b.test', maxFileSize: '8' }, env)
    equal(
      [config.addresses, config.hosts, config.maxFileSize, config.maxDataSize],
      [['public'], ['git.test', '*.b.test'], 8 * MIB, 9 * MIB],
    )
  })

  it('take a Redis beside peers, as they are told of it', () => {
    const { redis } = parseConfig(
      { ...NAMED, redis: 'rediss://redis.example.com/1', redisUser: 'kas', redisPassword: 'file' },
      {},
    )
    equal(redis, { url: 'rediss://redis.example.com/1', user: 'kas', password: 'file', ca: undefined, prefix: 'berth' })
    is(parseConfig(NAMED, {}).redis, undefined)
  })

  it('end idle streams at 30 % of the age of connections', () => {
    is(parseConfig({}, {}).streamAge, minutes(36))
    is(parseConfig({}, { BERTH_MAX_CONNECTION_AGE: '100' }).streamAge, seconds(30))
    is(parseConfig({ streamAge: '80' }, { BERTH_MAX_CONNECTION_AGE: '100' }).streamAge, seconds(80))
  })

  it('leave the external endpoint off, at a port of its own, until there is a secret', () => {
    const off = parseConfig({}, {})
    equal([off.api, off.apiSecret], ['127.0.0.1:8153', undefined])
    const on = parseConfig({ api: '0.0.0.0:1' }, { BERTH_API: '0.0.0.0:2', BERTH_API_SECRET: 'file' })
    equal([on.api, on.apiSecret], ['0.0.0.0:1', 'file'])
  })

  const WRONG: [flag: string, given: Record<string, string>][] = [
    ['--addresses', { addresses: 'public,link-local' }],
    ['--addresses', { addresses: ',' }],
    ['--hosts', { hosts: 'https://a.test' }],
    ['--hosts', { hosts: 'a.test/*' }],
    ['--hosts', { hosts: '*' }],
    ['--devfile-hosts', { devfileHosts: 'https://a.test' }],
    ['--devfile-hosts', { devfileHosts: '*' }],
    ['--max-file-size', { maxFileSize: '0' }],
    ['--max-repository-size', { maxRepositorySize: '1.5' }],
    ['--max-total-size', { maxTotalSize: '201' }],
    ['--max-connection-age', { maxConnectionAge: '9' }],
    ['--max-connection-age', { maxConnectionAge: '2h' }],
    ['--stream-age', { maxConnectionAge: '100', streamAge: '81' }],
    ['--max-connections', { maxConnections: '0' }],
    ['--max-connections-per-address', { maxConnectionsPerAddress: '-1' }],
    ['--handshake-timeout', { handshakeTimeout: '301' }],
    ['--api', { api: 'nowhere', apiSecret: 'secret' }],
    ['--api-secret', { api: '127.0.0.1:8153' }],
    ['--private-api', { privateApi: 'nowhere' }],
    ['--private-api-secret', { peers: 'grpc://kas-1:8155' }],
    ['--peers-ca', { peers: 'grpc://kas-1:8155', privateApiSecret: 'secret', peersCa: 'ca.crt' }],
    ['--listen-grace', { listenGrace: '301' }],
    ['--agent-calls', { agentCalls: '0' }],
    ['--peers', { peers: 'http://kas-1:8155', privateApiSecret: 'secret' }],
    ['--redis', { ...NAMED, redis: 'redis.example.com:6379' }],
    ['--redis', { ...NAMED, redis: 'redis://redis:6379?db=1' }],
    ['--redis', { ...NAMED, redis: 'redis://:open-sesame@redis:6379' }],
    ['--redis-prefix', { ...NAMED, redis: 'redis://redis', redisPrefix: 'a b' }],
    ['--redis-ca', { ...NAMED, redis: 'redis://redis', redisCa: 'ca.crt' }],
    ['--redis-password', { ...NAMED, redis: 'redis://redis', redisUser: 'kas' }],
    ['--redis', { ...NAMED, redisPassword: 'password' }],
    ['--peers', { redis: 'redis://redis' }],
    ['--agent-wait', { agentWait: '0' }],
    ['--visits-per-second', { visitsPerSecond: '0' }],
  ]
  for (const [flag, given] of WRONG) {
    it(`name the flag that is wrong: ${JSON.stringify(given)}`, () => {
      try {
        parseConfig(given, {})
      } catch (thrown) {
        if (!isFailure(thrown, 'invalid')) throw thrown
        not.match(thrown.message, 'sesame')
        return match(thrown.message, flag)
      }
      is('taken', 'refused')
    })
  }
})
