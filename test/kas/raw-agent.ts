import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf'
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  ConfigurationRequestSchema,
  type ConfigurationResponse,
  ConfigurationResponseSchema,
  ConnectRequestSchema,
  ObjectsToSynchronizeRequestSchema,
  type ObjectsToSynchronizeResponse,
  ObjectsToSynchronizeResponseSchema,
  RegisterRequestSchema,
  RegisterResponseSchema,
  ReportRequestSchema,
  ReportResponseSchema,
} from '../../src/rpc/index.ts'

/** How a call ended. */
export interface End {
  code: number
  details: string
}

export interface ObjectsCall {
  /** Ids of the commits of which anything has come. */
  commits: string[]
  end: Promise<End>
  cancel(): void
}

export interface ConfigurationStream {
  responses: ConfigurationResponse[]
  end: Promise<End>
  cancel(): void
}

/** An agent of any make: gRPC as the library speaks it, with nothing of ours but the messages. */
export function rawAgent(address: string, token: string) {
  const client = new Client(address, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const unary = <I extends DescMessage, O extends DescMessage>(
    path: string,
    [input, output]: [I, O],
    request: MessageInitShape<I>,
  ) =>
    new Promise<MessageShape<O>>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
        (data) => fromBinary(output, data),
        create(input, request),
        metadata,
        (error, response) => (response ? resolve(response) : reject(error)),
      )
    })
  return {
    /** Asks for objects as agentk does, which knows nothing of digests. */
    objects(request: MessageInitShape<typeof ObjectsToSynchronizeRequestSchema>): ObjectsCall {
      const call: ClientReadableStream<ObjectsToSynchronizeResponse> = client.makeServerStreamRequest(
        '/gitlab.agent.gitops.rpc.Gitops/GetObjectsToSynchronize',
        (message) => Buffer.from(toBinary(ObjectsToSynchronizeRequestSchema, message)),
        (data) => fromBinary(ObjectsToSynchronizeResponseSchema, data),
        create(ObjectsToSynchronizeRequestSchema, { paths: [{ path: { case: 'glob', value: '**/*.yaml' } }], ...request }),
        metadata,
      )
      const commits: string[] = []
      call.on('data', ({ message }: ObjectsToSynchronizeResponse) => {
        if (message.case === 'header') commits.push(message.value.commitId)
      })
      return { commits, end: endOf(call), cancel: () => call.cancel() }
    },
    configuration(request: MessageInitShape<typeof ConfigurationRequestSchema> = {}): ConfigurationStream {
      const call: ClientReadableStream<ConfigurationResponse> = client.makeServerStreamRequest(
        '/gitlab.agent.agent_configuration.rpc.AgentConfiguration/GetConfiguration',
        (message) => Buffer.from(toBinary(ConfigurationRequestSchema, message)),
        (data) => fromBinary(ConfigurationResponseSchema, data),
        create(ConfigurationRequestSchema, request),
        metadata,
      )
      const responses: ConfigurationResponse[] = []
      call.on('data', (response: ConfigurationResponse) => responses.push(response))
      return { responses, end: endOf(call), cancel: () => call.cancel() }
    },
    register: (request: MessageInitShape<typeof RegisterRequestSchema>) =>
      unary(
        '/gitlab.agent.agent_registrar.rpc.AgentRegistrar/Register',
        [RegisterRequestSchema, RegisterResponseSchema],
        request,
      ),
    report: (request: MessageInitShape<typeof ReportRequestSchema>) =>
      unary('/berth.agent_report.rpc.AgentReports/Report', [ReportRequestSchema, ReportResponseSchema], request),
    /** Sends these frames to the method and gives what comes back. */
    modules: (frames: Uint8Array[]) =>
      duplex(client, metadata, '/gitlab.agent.gitlab_access.rpc.GitlabAccess/MakeRequest', frames),
    /** The same without an end. */
    openModules: (frames: Uint8Array[]) =>
      duplex(client, metadata, '/gitlab.agent.gitlab_access.rpc.GitlabAccess/MakeRequest', frames, false),
    /** A tunnel that waits for a request; the answer ends it. */
    tunnel(): () => void {
      const same = (data: Buffer) => data
      const call = client.makeBidiStreamRequest<Buffer, Buffer>(
        '/gitlab.agent.reverse_tunnel.rpc.ReverseTunnel/Connect',
        same,
        same,
        metadata,
      )
      call.on('error', () => undefined)
      call.on('data', () => undefined)
      const agentDescriptor = { services: [{ name: 'any', methods: [{ name: 'Any' }] }] }
      const first = create(ConnectRequestSchema, { msg: { case: 'descriptor', value: { agentDescriptor } } })
      call.write(Buffer.from(toBinary(ConnectRequestSchema, first)))
      return () => call.cancel()
    },
    close: () => client.close(),
  }
}

function endOf(call: ClientReadableStream<unknown>): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>()
  call.on('error', ({ code, details }: ServiceError) => resolve({ code, details }))
  call.on('status', ({ code, details }) => resolve({ code, details }))
  return promise
}

function duplex(
  client: Client,
  metadata: Metadata,
  path: string,
  frames: Uint8Array[],
  isWhole = true,
): Promise<{ answers: Buffer[]; end: End }> {
  const same = (data: Buffer) => data
  const call = client.makeBidiStreamRequest<Buffer, Buffer>(path, same, same, metadata)
  const answers: Buffer[] = []
  call.on('data', (data: Buffer) => answers.push(data))
  call.on('error', () => undefined)
  for (const frame of frames) call.write(Buffer.from(frame))
  if (isWhole) call.end()
  return new Promise((resolve) => {
    call.on('status', ({ code, details }) => resolve({ answers, end: { code, details } }))
  })
}

export { status as codes }
