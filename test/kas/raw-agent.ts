import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape, toBinary } from '@bufbuild/protobuf'
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  ConfigurationRequestSchema,
  type ConfigurationResponse,
  ConfigurationResponseSchema,
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
      const { promise: end, resolve } = Promise.withResolvers<End>()
      call.on('error', ({ code, details }: ServiceError) => resolve({ code, details }))
      call.on('status', ({ code, details }) => resolve({ code, details }))
      return { responses, end, cancel: () => call.cancel() }
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
    close: () => client.close(),
  }
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
