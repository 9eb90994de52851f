import 'reflect-metadata';
import {
  Body,
  Controller,
  Headers,
  HttpException,
  Module,
  Post,
  Put,
  Res,
  UnauthorizedException,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import nodeIdempotency from '@node-idempotency/nestjs';
import { announce, count, place, userOf } from './shop.mjs';

const { Idempotent, NodeIdempotencyModule } = nodeIdempotency;

class Orders {
  async place(body, wanted, response) {
    const answer = await place(body, wanted);
    if (answer.status >= 400) throw new HttpException(answer.body, answer.status);
    response.header('location', answer.location);
    return answer.body;
  }

  async replace(body, wanted, response) {
    return this.place(body, wanted, response);
  }
}

/** Decorators, as TypeScript writes them. */
function decorate(name, method) {
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, name);
  for (const decorator of [method, Idempotent()]) decorator(Orders.prototype, name, descriptor);
  Body()(Orders.prototype, name, 0);
  Headers('x-test')(Orders.prototype, name, 1);
  Res({ passthrough: true })(Orders.prototype, name, 2);
}
decorate('place', Post());
decorate('replace', Put());
Controller(['orders', 'invoices'])(Orders);

const App = class {
  name = 'app';
};
Module({
  imports: [NodeIdempotencyModule.forRootAsync({ storage: { adapter: 'memory' } })],
  controllers: [Orders],
})(App);

const app = await NestFactory.create(App, { logger: false });
app.use((request, response, next) => {
  if (request.url === '/count') return response.end(`${count()}`);
  next(userOf(request.headers.authorization) ? undefined : new UnauthorizedException());
});
await app.listen(0, '127.0.0.1');
announce(app.getHttpServer());
