import { create } from '@bufbuild/protobuf'
import { type ConnectRequest, ConnectRequestSchema } from '../../rpc/index.ts'
import { Failure } from '../../std/index.ts'

/** Methods of one agent. */
const MOST = 1000
const LONGEST = 256

/** The first message of an agent: what it answers, as `/service/method`. */
export function descriptorOf(paths: Iterable<string>): ConnectRequest {
  const services = new Map<string, { name: string }[]>()
  for (const path of paths) {
    const [, service = '', name = ''] = path.split('/')
    services.set(service, [...(services.get(service) ?? []), { name }])
  }
  const listed = [...services].map(([name, methods]) => ({ name, methods }))
  return create(ConnectRequestSchema, { msg: { case: 'descriptor', value: { agentDescriptor: { services: listed } } } })
}

/** The paths of what is in it. Throws, for an INVALID_ARGUMENT, at anything else. */
export function pathsIn({ msg }: ConnectRequest): ReadonlySet<string> {
  if (msg.case !== 'descriptor' || !msg.value.agentDescriptor)
    throw wrong('the first message of a tunnel must be the descriptor of the agent')
  const paths = new Set<string>()
  for (const { name, methods } of msg.value.agentDescriptor.services) {
    for (const method of methods) {
      if (!isName(name) || !isName(method.name)) throw wrong('services and methods must have names')
      paths.add(`/${name}/${method.name}`)
      if (paths.size > MOST) throw wrong(`an agent may name ${MOST} methods`)
    }
  }
  return paths
}

const isName = (name: string): boolean => name.length > 0 && name.length <= LONGEST && !name.includes('/')
const wrong = (message: string) => new Failure('invalid', message, { reason: 'InvalidRequest' })
