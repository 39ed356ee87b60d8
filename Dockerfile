# The image of Reprieve: built on Debian 12 with Debian's own packages; in the end only the program and the libraries it
# loads. `scripts/image` makes the same image without Docker, from a program that is built already; it takes the settings
# of the last stage from here.
#
#   docker build -t reprieve:0.1.0 .
FROM debian:12 AS build
WORKDIR /src
# The packages before the sources: they change less often.
COPY scripts/setup scripts/
RUN scripts/setup build package && apt-get clean
COPY CMakeLists.txt CMakePresets.json VERSION LICENSE README.md CHANGELOG.md ./
COPY cmake cmake
COPY deploy/package deploy/package
COPY src src
# The page of the window is built where Node is, or taken from ui/dist; without either the program says so.
COPY ui ui
COPY scripts/build-window scripts/image-root scripts/
ARG JOBS=2
ARG COMMIT=unknown
RUN cmake --preset release -DREPRIEVE_TESTS=OFF -DREPRIEVE_COMMIT="$COMMIT" \
 && cmake --build --preset release --target reprieve -j "$JOBS" \
 && scripts/image-root build/release/src/app/reprieve /image

FROM scratch
COPY --from=build /image /
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/usr/bin/reprieve"]
CMD ["run", "--in-cluster"]
